// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the record of an OOM kill as text. */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "core/names.h"
#include "render/oom_int.h"

const char *oom_fate(const struct memtap_oom_record *r)
{
	return r->flags & MEMTAP_OOM_KILLED ? "killed" :
	       r->flags & MEMTAP_OOM_UNSEEN ? "chosen" : "not killed";
}

void oom_put_size(FILE *out, const char *before, __u64 bytes, const char *behind)
{
	char buf[TEXT_LEN];

	if (bytes == MEMTAP_OOM_UNKNOWN)
		fprintf(out, "%sunknown%s", before, behind);
	else
		fprintf(out, "%s%s%s", before, text_bytes(buf, (__s64)bytes, false), behind);
}

void oom_put_name(FILE *out, const struct memtap_oom_task *t)
{
	text_put(out, t->comm, NULL);
	fprintf(out, " (%d)", t->pid);
}

static void put_path(FILE *out, const char *path)
{
	fputs(", cgroup ", out);
	text_put(out, *path ? path : "unknown", NULL);
}

static void head(const struct memtap_oom_record *r, FILE *out)
{
	char clock[TEXT_LEN];

	if (r->flags & MEMTAP_OOM_MADE)
		fputs("(test record, no process was killed: memtap oom --test)\n", out);
	fprintf(out, "%s  ", text_time(clock, r->real_ns));
	oom_put_name(out, &r->victim);
	if (r->flags & MEMTAP_OOM_KILLED)
		fputs(" was OOM-killed", out);
	else if (r->flags & MEMTAP_OOM_UNSEEN)
		fputs(" was chosen as the OOM victim", out);
	else
		fputs(" was chosen as the OOM victim, but not killed: it was already exiting", out);
	fprintf(out, ": out of memory %s", constraint_sentence(r->constraint));
	if (r->constraint == MEMTAP_CONSTRAINT_MEMCG && *oom_limit_path(r)) {
		fputc(' ', out);
		text_put(out, oom_limit_path(r), NULL);
	}
	fprintf(out, "  [%llu]\n", (unsigned long long)r->nr);
}

void oom_put_why(const struct memtap_oom_record *r, FILE *out)
{
	struct oom_why w;

	oom_diagnose(r, &w);
	fputs("  cause      ", out);
	text_put(out, w.sentence, NULL);
	fputs("\n  next       ", out);
	text_put(out, w.command, NULL);
	fprintf(out, "\n             (%s)\n", w.tells);
}

static void task_sizes(const struct memtap_oom_task *t, FILE *out)
{
	if (!(t->flags & MEMTAP_OOM_TASK_SIZED)) {
		fputs("its memory use could not be read", out);
		return;
	}
	oom_put_size(out, "anon ", t->anon, ", ");
	oom_put_size(out, "file ", t->file, ", ");
	oom_put_size(out, "shared ", t->shmem, ", ");
	oom_put_size(out, "swap ", t->swap, ", ");
	oom_put_size(out, "page tables ", t->tables, "");
}

static void chosen_by(const struct memtap_oom_record *r, FILE *out)
{
	char buf[2][TEXT_LEN];

	if (r->flags & MEMTAP_OOM_ALLOCATING)
		fputs("chosen because it was the process that allocated", out);
	else if (!oom_points_known(r))
		fputs("chosen because it had marked itself as the first to kill", out);
	else
		fprintf(out, "OOM score %s%s (allowed memory: %s)", r->flags &
			MEMTAP_OOM_PERMILLE ? "about " : "", text_bytes(buf[0], r->points, false),
			text_bytes(buf[1], (__s64)r->allowed, false));
}

void oom_put_members(const struct memtap_oom_record *r, FILE *out)
{
	if (r->sharing)
		fprintf(out, "             also killed: %u process%s that shared its memory\n",
			r->sharing, r->sharing == 1 ? "" : "es");
	if (r->flags & MEMTAP_OOM_CHILD)
		fputs("             killed instead: its child\n", out);
	else if (r->nr_members)
		fprintf(out, "             also killed: the rest of its cgroup, %u process%s\n",
			r->nr_members, r->nr_members == 1 ? "" : "es");
	for (__u32 i = 0; i < r->nr_members && i < MEMTAP_OOM_MEMBERS; i++) {
		fputs("               ", out);
		oom_put_name(out, &r->members[i]);
		if (r->members[i].flags & MEMTAP_OOM_TASK_SIZED)
			oom_put_size(out, ", anon ", r->members[i].anon, "");
		fputc('\n', out);
	}
}

static void victim(const struct memtap_oom_record *r, FILE *out)
{
	const struct memtap_oom_task *t = &r->victim;

	fputs("  victim     ", out);
	task_sizes(t, out);
	fputs("\n             ", out);
	chosen_by(r, out);
	fprintf(out, "; oom_score_adj %d, uid %u", t->score_adj, t->uid);
	put_path(out, r->victim_path);
	fputc('\n', out);
	oom_put_members(r, out);
}

static void put_frames(const struct sym_frame *f, size_t nr, FILE *out)
{
	for (size_t i = 0; i < nr; i++) {
		fputs("               ", out);
		if (f[i].name)
			text_put(out, f[i].name, NULL);
		else if (f[i].kernel || !*f[i].object)
			fputs("[unknown]", out);
		else
			fprintf(out, "+0x%llx", (unsigned long long)f[i].addr);
		if (f[i].object && *f[i].object && !(f[i].kernel && f[i].name &&
						     !strcmp(f[i].object, "kernel"))) {
			fputs(" (", out);
			text_put(out, f[i].object, NULL);
			fputc(')', out);
		}
		if (f[i].inlined)
			fputs(" (inlined)", out);
		fputc('\n', out);
	}
}

/* The file of the outermost frame that is known: that of the code that could not be unwound. */
static const char *last_path(const struct memtap_oom_record *r)
{
	const __u32 file = r->nr_ustack ? r->ustack[r->nr_ustack - 1].file : 0;

	return file && *r->files[file - 1].path ? r->files[file - 1].path : "a file";
}

static void put_rest(const struct memtap_oom_record *r, FILE *out)
{
	if (r->urest == MEMTAP_OOM_REST_NO_FILE || r->urest == MEMTAP_OOM_REST_NO_ROW)
		text_put(out, last_path(r), NULL);
	fputs(oom_rest_sentence(r), out);
}

static void trigger(const struct memtap_oom_record *r, const struct oom_opts *o)
{
	const struct sym_frame *frames;
	FILE *out = o->out;
	struct oom_stack s;
	size_t nr;

	fputs("  trigger    ", out);
	oom_put_name(out, &r->trigger);
	if (r->trigger.tid != r->trigger.pid)
		fprintf(out, ", thread %d", r->trigger.tid);
	if (r->trigger.flags & MEMTAP_OOM_TASK_KTHREAD)
		fputs(", a kernel thread", out);
	if (r->flags & MEMTAP_OOM_SYSRQ)
		fputs(", by a manual request (SysRq f)", out);
	else
		fprintf(out, ", requested %u page%s (order %d), %s", 1U << (r->order & 31),
			r->order ? "s" : "", r->order, *r->gfp_text ? r->gfp_text : "");
	if (!*r->gfp_text)
		fprintf(out, "gfp 0x%llx", (unsigned long long)r->gfp);
	put_path(out, r->trigger_path);
	fputc('\n', out);
	oom_stack_init(&s, r, o);
	for (__u32 i = 0; i < r->nr_kstack; i++) {
		nr = oom_stack_kernel(&s, i, &frames);
		put_frames(frames, nr, out);
	}
	if (r->nr_kstack && r->nr_ustack)
		fputs("               --\n", out);
	for (__u32 i = 0; i < r->nr_ustack; i++) {
		nr = oom_stack_user(&s, i, &frames);
		put_frames(frames, nr, out);
	}
	if (r->urest) {
		fputs("               [the rest of the stack is not known: ", out);
		put_rest(r, out);
		fputs("]\n", out);
	} else if (oom_is_cut(r)) {
		fputs("               [stack truncated]\n", out);
	}
}

static void processes(const struct memtap_oom_record *r, __u32 rows, FILE *out)
{
	fprintf(out, "  processes  %u", r->processes);
	oom_put_size(out, ", anonymous and swapped memory ", r->held, "");
	if (r->same > 1) {
		fprintf(out, "; %u named ", r->same);
		text_put(out, r->victim.comm, NULL);
		oom_put_size(out, ": ", r->same_held, "");
	}
	if (r->unread)
		fprintf(out, "; %u could not be read", r->unread);
	if (r->flags & MEMTAP_OOM_TWICE)
		fputs("; shared memory may be counted twice", out);
	if (r->unlooked)
		fprintf(out, "; %u more not examined", r->unlooked);
	fputc('\n', out);
	if (!r->nr_top || !rows)
		return;
	fputs("                  PID      ANON      FILE    SHARED      SWAP    TABLES   ADJ  "
	      "NAME\n", out);
	for (__u32 i = 0; i < r->nr_top && i < rows; i++) {
		const struct memtap_oom_task *t = &r->top[i];
		char b[5][TEXT_LEN];

		fprintf(out, "             %8d %9s %9s %9s %9s %9s %5d  ", t->pid,
			text_bytes(b[0], (__s64)t->anon, false),
			text_bytes(b[1], (__s64)t->file, false),
			text_bytes(b[2], (__s64)t->shmem, false),
			text_bytes(b[3], (__s64)t->swap, false),
			text_bytes(b[4], (__s64)t->tables, false), t->score_adj);
		text_put(out, t->comm, NULL);
		fputc('\n', out);
	}
}

/* Append one item; start a new line where this one is full. */
void oom_put_item(FILE *out, size_t *column, const char *name, __u64 bytes)
{
	char text[2 * TEXT_LEN], size[TEXT_LEN];
	const int len = snprintf(text, sizeof(text), "%s %s", name,
				 text_bytes(size, (__s64)bytes, false));

	if (*column && *column + (size_t)len > 70) {
		fputs(",\n             ", out);
		*column = 0;
	} else if (*column) {
		fputs(", ", out);
	}
	fputs(text, out);
	*column += (size_t)len + 2;
}

void oom_put_counters(const struct memtap_oom_record *r, size_t *column, FILE *out)
{
	for (__u32 i = 0; i < r->nr_counters; i++)
		if (r->counters[i] != MEMTAP_OOM_UNKNOWN)
			oom_put_item(out, column, vm_name(i), r->counters[i]);
	if (oom_unaccounted(r))
		oom_put_item(out, column, "unaccounted", oom_unaccounted(r));
}

static void machine(const struct memtap_oom_record *r, FILE *out)
{
	size_t column = 0;

	oom_put_size(out, "  machine    ", r->total, "");
	fprintf(out, ", %u CPU%s, load %u.%02u %u.%02u %u.%02u\n             ", r->nr_cpus,
		text_s(r->nr_cpus), r->load[0] / 1000, r->load[0] % 1000 / 10, r->load[1] / 1000,
		r->load[1] % 1000 / 10, r->load[2] / 1000, r->load[2] % 1000 / 10);
	oom_put_counters(r, &column, out);
	fputc('\n', out);
}

/* When memory.stat was read: the victim may have freed part of its memory by then. */
static void put_moment(const struct memtap_oom_record *r, FILE *out)
{
	char ms[TEXT_LEN];

	fprintf(out, "memory.stat read %s after the record%s", text_ns(ms, (__s64)r->later_ns),
		!r->killed_ns ? "" : r->later_ns < r->killed_ns ? ", before the victim was killed" :
		oom_charged_whole(r) ? ", before anything was freed" :
		"; part of it was already freed");
}

static void charged(const struct memtap_oom_record *r, FILE *out)
{
	size_t column = 0;

	if (r->constraint != MEMTAP_CONSTRAINT_MEMCG || r->flags & MEMTAP_OOM_MADE)
		return;
	fputs("  cgroup     ", out);
	if (!r->later_ns) {
		fprintf(out, "charges unknown: %s\n", !r->later_errno ?
			"the module did not read memory.stat" : r->later_errno == EINPROGRESS ?
			"memory.stat was not read in time" : r->later_errno == ENOENT ?
			"memory.stat is not below /sys/fs/cgroup, or the cgroup is gone" :
			strerror((int)r->later_errno));
		return;
	}
	for (__u32 i = 0; i < r->nr_charged; i++)
		if (r->charged[i] != MEMTAP_OOM_UNKNOWN)
			oom_put_item(out, &column, charged_name(i), r->charged[i]);
	fputs("\n             (", out);
	put_moment(r, out);
	fputs(")\n", out);
}

/* Counters of the allowed nodes, where a cpuset or memory policy allowed only some. */
static void nodes(const struct memtap_oom_record *r, FILE *out)
{
	size_t column = 0;

	if (!oom_of_nodes(r))
		return;
	oom_put_size(out, "  nodes      ", r->nodes_total, " on the allowed nodes");
	fprintf(out, " (mask 0x%llx)\n             ", (unsigned long long)r->nodes);
	for (__u32 i = 0; i < r->nr_counters; i++)
		if (r->node_counters[i] != MEMTAP_OOM_UNKNOWN && i != MEMTAP_VM_SWAP_FREE)
			oom_put_item(out, &column, vm_name(i), r->node_counters[i]);
	fputc('\n', out);
}

void oom_put_zones(const struct memtap_oom_record *r, FILE *out)
{
	fputs("  zones      NODE ZONE          FREE       MIN       LOW      HIGH   MANAGED  "
	      "FREE BLOCKS BY ORDER\n", out);
	for (__u32 i = 0; i < r->nr_zones; i++) {
		const struct memtap_oom_zone *z = &r->zones[i];
		char b[5][TEXT_LEN];

		fprintf(out, "             %4u ", z->node);
		text_put(out, z->name, NULL);
		fprintf(out, "%*s %9s %9s %9s %9s %9s ",
			(int)(8 - (strlen(z->name) < 8 ? strlen(z->name) : 8)), "",
			text_bytes(b[0], (__s64)z->free, false),
			text_bytes(b[1], (__s64)z->min, false),
			text_bytes(b[2], (__s64)z->low, false),
			text_bytes(b[3], (__s64)z->high, false),
			text_bytes(b[4], (__s64)z->managed, false));
		for (__u32 order = 0; order < z->nr_orders; order++)
			fprintf(out, " %llu", (unsigned long long)z->blocks[order]);
		fputc('\n', out);
	}
}

static __u64 reclaimed(const struct memtap_oom_record *r, unsigned int what)
{
	return what < r->nr_reclaim && r->reclaim[what] != MEMTAP_OOM_UNKNOWN ?
	       r->reclaim[what] : 0;
}

static void reclaim(const struct memtap_oom_record *r, FILE *out)
{
	char n[4][TEXT_LEN];

	if (!r->reclaim_ms || r->reclaim[0] == MEMTAP_OOM_UNKNOWN) {
		fputs("  reclaim    activity before the kill is unknown\n", out);
		return;
	}
	fprintf(out, "  reclaim    in the %u s before the kill:\n"
		"             kswapd: scanned %s pages, reclaimed %s\n"
		"             direct reclaim: scanned %s pages, reclaimed %s; ",
		r->reclaim_ms / 1000,
		text_count(n[0], reclaimed(r, MEMTAP_RECLAIM_SCAN_KSWAPD)),
		text_count(n[1], reclaimed(r, MEMTAP_RECLAIM_STEAL_KSWAPD)),
		text_count(n[2], reclaimed(r, MEMTAP_RECLAIM_SCAN_DIRECT)),
		text_count(n[3], reclaimed(r, MEMTAP_RECLAIM_STEAL_DIRECT)));
	fprintf(out, "%s stall%s\n             swap: %s pages out, %s in\n",
		text_count(n[0], reclaimed(r, MEMTAP_RECLAIM_STALLS)),
		text_s(reclaimed(r, MEMTAP_RECLAIM_STALLS)),
		text_count(n[1], reclaimed(r, MEMTAP_RECLAIM_SWAP_OUT)),
		text_count(n[2], reclaimed(r, MEMTAP_RECLAIM_SWAP_IN)));
}

size_t oom_holders(const struct machine_list *l, const struct machine_holder *to[OOM_HOLDERS])
{
	size_t nr = 0;

	for (size_t i = 0; i < l->nr; i++) {
		const struct machine_holder *h = &l->at[i];
		size_t at = nr;

		/* the root cgroup stands for the whole machine */
		if (!strcmp(h->name, "/"))
			continue;
		if (nr < OOM_HOLDERS)
			nr++;
		else if (to[--at]->bytes >= h->bytes)
			continue;
		for (; at && to[at - 1]->bytes < h->bytes; at--)
			to[at] = to[at - 1];
		to[at] = h;
	}
	while (nr && !to[nr - 1]->bytes)
		nr--;
	return nr;
}

/* The record lacks these: they are read from the machine, shortly after the kill. */
static void holders(const char *what, const struct machine_list *l, bool limits, FILE *out)
{
	const struct machine_holder *at[OOM_HOLDERS];
	const size_t nr = oom_holders(l, at);
	char b[TEXT_LEN];

	for (size_t i = 0; i < nr; i++) {
		fprintf(out, "  %-10s %9s", i ? "" : what,
			text_bytes(b, (__s64)at[i]->bytes, false));
		fputs("  ", out);
		text_put(out, at[i]->name, NULL);
		if (limits && at[i]->size && at[i]->size != ~0ULL)
			fprintf(out, ", of %s", text_bytes(b, (__s64)at[i]->size, false));
		fputs(i ? "\n" : " (read shortly after the kill)\n", out);
	}
}

void render_oom_of(const struct snap *file, __u32 number, struct memtap_oom_record *to)
{
	const struct memtap_rec_oom *rec = file->ooms[number];
	size_t len = rec->rec.len - sizeof(rec->rec);

	if (len > sizeof(*to))
		len = sizeof(*to);
	memcpy(to, &rec->record, len);
	oom_clean(to, len);
}

void render_oom(const struct memtap_oom_record *r, const struct oom_opts *o)
{
	head(r, o->out);
	oom_put_why(r, o->out);
	victim(r, o->out);
	trigger(r, o);
	processes(r, o->rows, o->out);
	charged(r, o->out);
	machine(r, o->out);
	nodes(r, o->out);
	oom_put_zones(r, o->out);
	reclaim(r, o->out);
	if (!o->now)
		return;
	holders("slab", &o->now->slabs, false, o->out);
	holders("cgroups", &o->now->cgroups, true, o->out);
}
