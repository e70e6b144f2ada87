// SPDX-License-Identifier: GPL-2.0-or-later
/* Print a session's memory use, and its full tables. */
#include "render/int.h"

static void put_fill(FILE *out, const char *what, __u64 used, __u64 size, bool bytes)
{
	char a[TEXT_LEN], b[TEXT_LEN];

	if (!size)
		return;
	if (bytes)
		fprintf(out, "; %s %s of %s", what, text_bytes(a, used, false),
			text_bytes(b, size, false));
	else
		fprintf(out, "; %s %s of %s", what, text_count(a, used), text_count(b, size));
}

/* Tables of rows are taken as they come; the rest is there from the start. */
static void put_unwind_memory(const struct report *r, FILE *out)
{
	const struct memtap_rec_memory *m = &r->snap->memory;
	char buf[TEXT_LEN];

	if (!m->unwind_size)
		return;
	put_fill(out, "unwind tables", m->unwind_used, m->unwind_size, true);
	fprintf(out, " for %s file%s", text_count(buf, m->tables), text_s(m->tables));
	/* also what is mapped and runs nothing: of interest where it cut a stack */
	if (m->tables_wanted && r->sums && report_sums_cut(r->sums, MEMTAP_STACK_NOTABLE))
		fprintf(out, ", none for %s", text_count(buf, m->tables_wanted));
}

static __u64 memory_taken(const struct memtap_rec_memory *m)
{
	const __u64 unused = m->unwind_size - m->unwind_used;

	return m->unwind_used <= m->unwind_size && unused <= m->total ? m->total - unused :
								       m->total;
}

#define LOSS(_field, _one, _more)	\
	{ offsetof(struct memtap_rec_memory, _field), { _one, _more } }

/* Numbers of what had no room, and what that means: of one, of several. */
static const struct {
	size_t at;
	const char *words[2];
} memory_losses[] = {
	LOSS(unwind_lost, "unwind table or map of a process had no room: see --max-mem",
	     "unwind tables or maps of processes had no room: see --max-mem"),
	LOSS(maps_lost, "mapping had no room: some functions have no names",
	     "mappings had no room: some functions have no names"),
	LOSS(spaces_missed, "process was gone before its mappings could be read",
	     "processes were gone before their mappings could be read"),
	LOSS(children_lost, "child process was not followed: no room in the filter",
	     "child processes were not followed: no room in the filter"),
	LOSS(spaces_lost, "process had no room: its blocks were not recorded",
	     "processes had no room: their blocks were not recorded"),
	LOSS(mismatches_lost, "kind of invalid frees had no room, and is not shown",
	     "kinds of invalid frees had no room, and are not shown"),
	LOSS(trace_lost, "call came faster than it could be printed",
	     "calls came faster than they could be printed"),
	LOSS(live_lost_bytes, "byte of objects had no room and is missing above: see --max-mem",
	     "bytes of objects had no room and are missing above: see --max-mem"),
	LOSS(replaced, "object was freed unseen: its address was allocated again",
	     "objects were freed unseen: their addresses were allocated again"),
	LOSS(caches_lost, "cache had no room for its name, and is among the others",
	     "caches had no room for their names, and are among the others"),
	LOSS(gone_lost, "function of an unloaded module has no name: no room",
	     "functions of unloaded modules have no names: no room"),
};

#define NR_LOSSES	(sizeof(memory_losses) / sizeof(memory_losses[0]))

static __u64 loss(const struct memtap_rec_memory *m, size_t i)
{
	return *(const __u64 *)((const char *)m + memory_losses[i].at);
}

bool render_memory_whole(const struct report *r)
{
	const struct memtap_rec_memory *m = &r->snap->memory;

	for (size_t i = 0; i < NR_LOSSES; i++)
		if (loss(m, i))
			return false;
	return !m->cpus_late;
}

void render_memory_line(const struct report *r, FILE *out)
{
	const struct memtap_rec_memory *m = &r->snap->memory;
	char buf[TEXT_LEN];

	if (m->rec.len)
		fprintf(out, "; %s", text_bytes(buf, (__s64)memory_taken(m), false));
}

#define USUAL_MIB	64		/* max_mem of the module */

/* What to type where blocks had no room. */
static void put_more(const struct report *r, FILE *out)
{
	const unsigned int mib = r->leaks ? leaks_more_mib(r->snap) : 0;

	if (!mib)
		return;
	fprintf(out, "blocks had no room: --max-mem %uM makes the tables larger", mib);
	if (mib > USUAL_MIB)
		fprintf(out, ", which needs `echo %uM > /sys/module/memtap/parameters/max_mem` "
			"before", mib);
	fputc('\n', out);
}

void render_memory(const struct report *r, FILE *out)
{
	const struct memtap_rec_memory *m = &r->snap->memory;
	char buf[TEXT_LEN];

	if (!m->rec.len)
		return;
	fprintf(out, "memory: %s taken", text_bytes(buf, (__s64)memory_taken(m), false));
	put_fill(out, "stacks", m->stacks_used, m->stacks_size, true);
	put_fill(out, "counters", m->counters_used, m->counters_size, false);
	put_fill(out, "tasks", m->tasks_used, m->tasks_size, false);
	put_fill(out, "mappings", m->maps_used, m->maps_size, true);
	put_fill(out, "live blocks", m->live_used, m->live_size, false);
	put_fill(out, "stacks of the peak", r->snap->peak.used, r->snap->peak.size, false);
	put_fill(out, "live mappings", m->live_maps_used, m->live_maps_size, false);
	put_fill(out, "threads", m->threads_used, m->threads_size, false);
	put_unwind_memory(r, out);
	fputc('\n', out);
	for (size_t i = 0; i < NR_LOSSES; i++) {
		const __u64 n = loss(m, i);

		if (n)
			fprintf(out, "%s %s\n", text_count(buf, n),
				memory_losses[i].words[n != 1]);
	}
	put_more(r, out);
	if (m->cpus_late)
		fprintf(out, "a CPU came online %s time%s: in its first milliseconds its events "
			"were not seen\n", text_count(buf, m->cpus_late), text_s(m->cpus_late));
}
