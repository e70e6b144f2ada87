// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What was seen and what became of it: the foot of a report.  A report without
 * losses says so, so that its silence means something.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <string.h>

#include "render/int.h"

#define COLUMN	10

static const char *way_name(__u32 way)
{
	static const char *const names[] = {
		"", "kprobe", "kretprobe", "uprobe", "uretprobe", "tracepoint",
		"perf tracepoint", "perf software event",
	};

	return way < sizeof(names) / sizeof(names[0]) ? names[way] : "unknown way";
}

static void put_number(FILE *out, __u64 n)
{
	char buf[TEXT_LEN];

	fprintf(out, " %*s", COLUMN, text_signed(buf, (__s64)n));
}

static bool occurred(const struct snap *s, unsigned int reason, bool part)
{
	for (size_t i = 0; i < s->nr_events; i++)
		if (part ? s->events[i].part[reason] : s->events[i].lost[reason])
			return true;
	return false;
}

/*
 * Reasons that this tool knows, and those of a newer module that occurred.  With
 * live blocks there are too many events and reasons for columns that say 0.
 */
static bool reason_shown(const struct snap *s, unsigned int reason, bool part)
{
	const unsigned int known = part ? MEMTAP_NR_PART :
				   leaks_kept(s) ? 0 : MEMTAP_LOST_LIVE;

	return reason < known || occurred(s, reason, part);
}

/* All reasons in one line, in their place. */
static void put_lost_sums(const struct snap *s, FILE *out)
{
	char buf[TEXT_LEN];

	for (unsigned int i = 0; i < MEMTAP_LOST_SLOTS; i++) {
		__u64 sum = 0;

		if (i >= MEMTAP_NR_LOST && !occurred(s, i, false))
			continue;
		for (size_t e = 0; e < s->nr_events; e++)
			sum += s->events[e].lost[i];
		fprintf(out, "%s%s %s", i ? ", " : "lost: ", text_signed(buf, (__s64)sum),
			report_lost_name(i));
	}
	fputc('\n', out);
}

static __u64 lost_sum(const struct snap_event *e)
{
	__u64 sum = 0;

	for (int i = 0; i < MEMTAP_LOST_SLOTS; i++)
		sum += e->lost[i];
	return sum;
}

static void put_account(const struct snap *s, const struct snap_event *ev, FILE *out)
{
	put_number(out, ev->seen);
	put_number(out, ev->counted);
	put_number(out, ev->filtered);
	for (unsigned int i = 0; i < MEMTAP_LOST_SLOTS; i++)
		if (reason_shown(s, i, false))
			put_number(out, ev->lost[i]);
	fputs("  ", out);
	text_put(out, ev->name, NULL);
	fputc('\n', out);
}

static void put_accounts(const struct snap *s, FILE *out)
{
	fputs("seen = counted + filtered + lost, for these reasons:\n", out);
	fprintf(out, "%*s %*s %*s", COLUMN + 1, "seen", COLUMN, "counted", COLUMN, "filtered");
	for (unsigned int i = 0; i < MEMTAP_LOST_SLOTS; i++)
		if (reason_shown(s, i, false))
			fprintf(out, " %*s", COLUMN, report_lost_name(i));
	fputc('\n', out);
	for (size_t e = 0; e < s->nr_events; e++)
		if (!leaks_kept(s) || s->events[e].seen || lost_sum(&s->events[e]))
			put_account(s, &s->events[e], out);
	if (leaks_kept(s))
		put_lost_sums(s, out);
}

/* ---- user stacks ---- */

/* Never 100 % where something is missing. */
static void put_share(FILE *out, __u64 part, __u64 all)
{
	const double share = (double)part / (double)all;

	if (part == all)
		fputs("100 %", out);
	else
		fprintf(out, "%.1f %%", (double)(unsigned int)(share * 1000) / 10);
}

static void put_hints(const struct report *r, const struct rsums *s, FILE *out)
{
	for (size_t i = 0; i < NR_CUTS; i++) {
		const __u32 flag = report_cuts[i].flag;

		if (!s->cut[i])
			continue;
		if (flag == MEMTAP_STACK_DEPTH && r->snap->header.depth < MEMTAP_MAX_DEPTH)
			fprintf(out, "  too deep: --depth %u keeps more\n", MEMTAP_MAX_DEPTH);
		if ((flag != MEMTAP_STACK_NOTABLE && flag != MEMTAP_STACK_NOROW) || !s->most[i])
			continue;
		fputs(flag == MEMTAP_STACK_NOROW ? "  no row: most in " :
		      "  no table yet: most in ", out);
		text_put(out, s->most[i], NULL);
		fputs(flag == MEMTAP_STACK_NOROW ? "; `memtap unwind` with this file tells more\n" :
		      "; run it again, its tables are kept now\n", out);
	}
}

static void put_rows(const struct report *r, const struct rsums *s, FILE *out)
{
	const char *before = "; cut: ";
	char a[TEXT_LEN], b[TEXT_LEN];

	fputs("user stacks: ", out);
	put_share(out, s->whole, s->all);
	fprintf(out, " complete (%s of %s)", text_count(a, s->whole), text_count(b, s->all));
	for (size_t i = 0; i < NR_CUTS; i++) {
		if (!s->cut[i])
			continue;
		fprintf(out, "%s%s %s", before, text_count(a, s->cut[i]), report_cuts[i].words);
		if (report_cuts[i].flag == MEMTAP_STACK_DEPTH)
			fprintf(out, " (%u)", r->snap->header.depth);
		before = ", ";
	}
	if (s->others)
		fprintf(out, "; %s of 32-bit programs, by frame pointers",
			text_count(a, s->others));
	fputc('\n', out);
	put_hints(r, s, out);
}

static void put_sums(const struct report *r, FILE *out)
{
	const struct rsums *s = r->sums;
	char a[TEXT_LEN], b[TEXT_LEN];

	if (!s || !s->all)
		return;
	if (s->rows) {
		put_rows(r, s, out);
		return;
	}
	fputs("user stacks: by frame pointers; ", out);
	put_share(out, s->whole, s->all);
	fprintf(out, " (%s of %s) reach a function in which programs or threads begin\n",
		text_count(a, s->whole), text_count(b, s->all));
}

/* ---- what is not whole ---- */

static bool put_event_parts(const struct snap_event *e, const struct rparts *p, FILE *out)
{
	char buf[TEXT_LEN];
	bool named = false;
	__s64 n;

	for (unsigned int i = 0; i < MEMTAP_PART_SLOTS; i++) {
		n = (__s64)p->part[i];
		if (!n)
			continue;
		if (!named)
			text_put(out, e->name, NULL);
		fprintf(out, "%s %s %s", named ? "," : ": counted, but not whole:",
			text_signed(buf, n), report_part_name(i));
		named = true;
	}
	if (named)
		fputc('\n', out);
	return named;
}

static void put_parts(const struct report *r, FILE *out)
{
	const bool rows = r->snap->header.flags & MEMTAP_CFG_ROWS && !r->o->no_user;
	bool any = false;

	for (size_t e = 0; e < r->snap->nr_events; e++)
		any |= put_event_parts(&r->snap->events[e], &r->parts[e], out);
	if (any)
		return;
	fputs(rows ? "all that was counted has its stack and its task\n" :
	      "all that was counted has its whole stack and its task\n", out);
}

/* Rows of this event, all of them: what the counters hold. */
static __u64 rows_count(const struct report *r, const struct snap_event *e)
{
	for (size_t i = 0; i < r->nr_sections; i++)
		if (r->sections[i].event->id == e->id)
			return r->sections[i].count;
	return 0;
}

static void put_warning(FILE *out, const struct snap_event *e, __u64 n,
			const char *what, __u64 m, const char *but)
{
	char a[TEXT_LEN], b[TEXT_LEN];

	fputs("WARNING: ", out);
	text_put(out, e->name, NULL);
	fprintf(out, ": %s %s, but %s %s\n", text_signed(a, n), what,
		text_signed(b, m), but);
}

/* While a session runs, its numbers are of slightly different moments. */
static void put_checks(const struct report *r, FILE *out)
{
	const struct snap *s = r->snap;

	for (size_t i = 0; !s->header.running && i < s->nr_events; i++) {
		const struct snap_event *e = &s->events[i];
		__u64 explained = e->counted + e->filtered + lost_sum(e);
		__u64 rows = rows_count(r, e);

		if (e->seen != explained)
			put_warning(out, e, e->seen, "seen", explained, "explained");
		if (e->counted != rows && !r->leaks)
			put_warning(out, e, e->counted, "counted", rows, "in the stacks");
	}
}

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
	fprintf(out, " for %s files", text_count(buf, m->tables));
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

#define LOSS(_field, _words)	{ offsetof(struct memtap_rec_memory, _field), _words }

/* Numbers of what had no room, and what that means. */
static const struct {
	size_t at;
	const char *words;
} memory_losses[] = {
	LOSS(unwind_lost, "unwind tables or maps of processes had no room: see --max-mem"),
	LOSS(maps_lost, "mappings had no room: some functions have no names"),
	LOSS(spaces_missed, "processes were gone before their mappings could be read"),
	LOSS(children_lost, "children were not followed: no room in the filter"),
	LOSS(spaces_lost, "processes had no room among those whose blocks are kept"),
	LOSS(mismatches_lost, "kinds of frees that cannot be right had no room, and are not shown"),
	LOSS(trace_lost, "calls were overwritten before they were printed"),
};

static void put_memory(const struct report *r, FILE *out)
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
	put_fill(out, "live mappings", m->live_maps_used, m->live_maps_size, false);
	put_fill(out, "threads", m->threads_used, m->threads_size, false);
	put_unwind_memory(r, out);
	fputc('\n', out);
	for (size_t i = 0; i < sizeof(memory_losses) / sizeof(memory_losses[0]); i++) {
		const __u64 n = *(const __u64 *)((const char *)m + memory_losses[i].at);

		if (n)
			fprintf(out, "%s %s\n", text_count(buf, n), memory_losses[i].words);
	}
	if (m->cpus_late)
		fprintf(out, "a CPU came online %s times: in its first milliseconds its events "
			"were not seen\n", text_count(buf, m->cpus_late));
}

static void put_hooks(const struct snap *s, FILE *out)
{
	for (size_t i = 0; i < s->nr_hooks; i++) {
		const struct memtap_rec_hook *h = &s->hooks[i];
		const struct snap_event *e = snap_event(s, h->event);

		if (!h->error && h->state != MEMTAP_HOOK_FAILED)
			continue;
		fputs("hook of ", out);
		text_put(out, e ? e->name : "?", NULL);
		fprintf(out, " failed: %s ", way_name(h->way));
		text_put(out, h->target, NULL);
		fprintf(out, ": %s\n", strerror(h->error & 0xfff));
	}
}

static void put_unread(const struct report *r, FILE *out)
{
	char buf[RENDER_UNREAD_LEN];
	const char *text = render_unread(r, buf);

	if (text)
		fprintf(out, "%s\n", text);
}

static void put_notes(const char *const *notes, FILE *out)
{
	for (size_t i = 0; notes && notes[i]; i++) {
		text_put(out, notes[i], NULL);
		fputc('\n', out);
	}
}

/* What could not be named when the file was made. */
static void put_saved_notes(const struct snap *s, FILE *out)
{
	for (size_t i = 0; i < s->nr_notes; i++) {
		if (strncmp(s->notes[i], "note=", 5))
			continue;
		text_put(out, s->notes[i] + 5, NULL);
		fputc('\n', out);
	}
}

void render_foot(const struct view *v, FILE *out)
{
	const struct report *r = v->r;

	if (r->leaks)
		render_leaks_totals(v, out);
	put_accounts(r->snap, out);
	put_sums(r, out);
	put_parts(r, out);
	put_checks(r, out);
	if (r->leaks) {
		render_leaks_checks(r, out);
		render_leaks_spaces(r, out);
	}
	put_memory(r, out);
	put_hooks(r->snap, out);
	put_unread(r, out);
	put_notes(r->notes, out);
	put_saved_notes(r->snap, out);
	put_notes(v->o->notes, out);
	if (!r->leaks)
		return;
	render_suppressions(r, out);
	if (v->o->summary)
		render_summary(v, out);
}
