// SPDX-License-Identifier: GPL-2.0-or-later
/* From counters to rows: named, grouped, summed, sorted, cut to the top. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "render/render.h"

static const char *const lost_names[] = {
	[MEMTAP_LOST_RECURSION] = "recursion",
	[MEMTAP_LOST_NMI] = "nmi",
	[MEMTAP_LOST_TABLE] = "table-full",
	[MEMTAP_LOST_MISSED] = "missed",
	[MEMTAP_LOST_RETURN] = "no-return",
	[MEMTAP_LOST_PAIR] = "no-entry",
	[MEMTAP_LOST_LIVE] = "live-full",
	[MEMTAP_LOST_THREADS] = "no-thread",
	[MEMTAP_LOST_LEFT] = "left",
};

static const char *const part_names[] = {
	[MEMTAP_PART_STACKS_FULL] = "stack-not-kept",
	[MEMTAP_PART_DEPTH] = "too-deep",
	[MEMTAP_PART_FAULT] = "not-present",
	[MEMTAP_PART_CHAIN] = "no-frame-pointer",
	[MEMTAP_PART_TASKS_FULL] = "task-not-kept",
	[MEMTAP_PART_TRAMPOLINE] = "hidden-caller",
	[MEMTAP_PART_NOMAP] = "no-mapping",
	[MEMTAP_PART_NOTABLE] = "no-table",
	[MEMTAP_PART_NOROW] = "no-row",
};

const char *report_lost_name(unsigned int reason)
{
	return reason < MEMTAP_NR_LOST ? lost_names[reason] : "unknown-reason";
}

const char *report_part_name(unsigned int reason)
{
	return reason < MEMTAP_NR_PART ? part_names[reason] : "unknown-reason";
}

const char *render_unit(__u32 unit)
{
	static const char *const names[] = { "", "bytes", "pages", "ns" };

	return unit < sizeof(names) / sizeof(names[0]) ? names[unit] : "";
}

__s64 render_weight(const struct report *r, const struct rrow *row)
{
	if (r->calls || !*render_unit(r->events[row->event].unit))
		return row->count;
	return row->sum;
}

/* ---- rows ---- */

static bool same_row(const void *things, __u32 id, const void *key)
{
	const struct rrow *a = &((const struct report *)things)->rows[id], *b = key;

	return a->event == b->event && a->flags == b->flags && a->group == b->group &&
	       a->kstack == b->kstack && a->ustack == b->ustack && a->addr == b->addr;
}

struct rrow *report_row(struct report *r, const struct rrow *key)
{
	__u64 hash = ids_mix((__u64)key->event << 32 | key->flags, key->group);
	struct rrow *rows;
	__u32 id;

	hash = ids_mix(hash, (__u64)key->kstack << 32 | key->ustack);
	hash = ids_mix(hash, key->addr);
	id = ids_find(&r->row_ids, hash, same_row, r, key);
	if (id != IDS_NONE)
		return &r->rows[id];
	rows = report_grow(r->rows, r->row_ids.nr, &r->room_rows, sizeof(*rows));
	if (!rows)
		return NULL;
	r->rows = rows;
	id = ids_add(&r->row_ids, hash);
	if (id == IDS_NONE)
		return NULL;
	rows[id] = *key;
	return &rows[id];
}

static int add_hist(struct report *r, struct rrow *row, const __u64 *hist)
{
	if (!row->hist)
		row->hist = arena_alloc(&r->arena, MEMTAP_HIST_BUCKETS * sizeof(__u64));
	if (!row->hist)
		return -ENOMEM;
	for (int i = 0; i < MEMTAP_HIST_BUCKETS; i++)
		row->hist[i] += hist[i];
	return 0;
}

static int add_counter(struct report *r, const struct snap_counter *c)
{
	const struct memtap_rec_task *task = snap_task(r->snap, c->task);
	struct rrow key = { .flags = c->flags, .addr = c->addr }, *row;
	__s64 group = report_group(r, c->task), kstack = 0, ustack = 0;

	if (!r->o->no_kernel)
		kstack = report_stack(r, c->kstack, task);
	if (!r->o->no_user)
		ustack = report_stack(r, c->ustack, task);
	if (group < 0 || kstack < 0 || ustack < 0)
		return -ENOMEM;
	key.event = snap_event(r->snap, c->event) - r->snap->events;
	key.group = group;
	key.kstack = kstack;
	key.ustack = ustack;
	if (r->graph)	/* has no place to say it */
		key.flags = key.addr = 0;
	row = report_row(r, &key);
	if (!row)
		return -ENOMEM;
	row->count += c->count;
	row->sum = (__s64)((__u64)row->sum + (__u64)c->sum);
	if (c->max > row->max)
		row->max = c->max;
	return c->hist ? add_hist(r, row, c->hist) : 0;
}

void report_progress(const struct report *r, size_t done, size_t all)
{
	static struct timespec last;
	struct timespec now;

	if (!r->o->progress || done % 64)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!done)
		last = now;
	if (now.tv_sec == last.tv_sec && now.tv_nsec - last.tv_nsec < 200000000)
		return;
	last = now;
	fprintf(stderr, "\rnaming functions: %zu of %zu ", done, all);
	fflush(stderr);
}

static int make_rows(struct report *r)
{
	int err = 0;

	if (r->leaks)		/* counters tell where threads were held: no answer */
		err = report_leaks(r);
	for (size_t i = 0; !err && !r->leaks && i < r->snap->nr_counters; i++) {
		err = add_counter(r, &r->snap->counters[i]);
		report_progress(r, i, r->snap->nr_counters);
	}
	if (r->o->progress)
		fputs("\r\033[K", stderr);
	r->nr_rows = r->row_ids.nr;
	return err;
}

/* ---- order ---- */

static int cmp_s64(__s64 a, __s64 b)
{
	return a < b ? -1 : a > b;
}

static int cmp_u64(__u64 a, __u64 b)
{
	return a < b ? -1 : a > b;
}

static int cmp_stacks(const struct report *r, __u32 x, __u32 y)
{
	const struct rstack *a = &r->stacks[x], *b = &r->stacks[y];
	int c;

	for (__u32 i = 0; i < a->nr && i < b->nr; i++) {
		if (a->frames[i] == b->frames[i])
			continue;
		c = strcmp(r->frames[a->frames[i]].text, r->frames[b->frames[i]].text);
		if (c)
			return c;
	}
	return cmp_u64(a->nr, b->nr);
}

static int cmp_metric(const struct report *r, const struct rrow *a, const struct rrow *b)
{
	bool has_value = *render_unit(r->events[a->event].unit);

	switch (r->o->sort) {
	case SORT_COUNT:
		return cmp_u64(a->count, b->count);
	case SORT_MAX:
		return cmp_u64(a->max, b->max);
	case SORT_VALUE:
	case SORT_SIZE:
		return cmp_s64(a->sum, b->sum);
	case SORT_AGE:
		if (a->leak)
			return cmp_u64(b->leak->birth, a->leak->birth);
		break;
	case SORT_DEFAULT:
		break;
	}
	return has_value ? cmp_s64(a->sum, b->sum) : cmp_u64(a->count, b->count);
}

/* Equal rows in an order that does not depend on CPUs or hashes. */
static int cmp_rows(const void *x, const void *y, void *ctx)
{
	const struct report *r = ctx;
	const struct rrow *a = x, *b = y;
	int c;

	if (a->event != b->event)
		return cmp_u64(a->event, b->event);
	c = cmp_metric(r, a, b);
	if (!c)
		c = cmp_u64(a->count, b->count);
	if (!c)
		c = strcmp(r->groups[a->group].label, r->groups[b->group].label);
	if (!c && a->ustack != b->ustack)
		c = cmp_stacks(r, a->ustack, b->ustack);
	if (!c && a->kstack != b->kstack)
		c = cmp_stacks(r, a->kstack, b->kstack);
	if (!c)
		c = cmp_u64(a->addr, b->addr);
	return c ? c : cmp_u64(a->flags, b->flags);
}

static void add_to_section(struct rsection *s, const struct rrow *row)
{
	s->nr++;
	s->count += row->count;
	s->sum = (__s64)((__u64)s->sum + (__u64)row->sum);
	s->has_negative |= row->sum < 0;
}

static int make_sections(struct report *r)
{
	struct rsection *s = NULL;

	if (r->nr_rows)
		qsort_r(r->rows, r->nr_rows, sizeof(*r->rows), cmp_rows, r);
	r->sections = calloc(r->nr_events + 1, sizeof(*r->sections));
	if (!r->sections)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct snap_event *e = &r->events[r->rows[i].event];

		if (!s || s->event != e) {
			s = &r->sections[r->nr_sections++];
			s->event = e;
			s->first = i;
		}
		add_to_section(s, &r->rows[i]);
	}
	for (size_t i = 0; i < r->nr_sections; i++) {
		s = &r->sections[i];
		s->shown = r->o->top && r->o->top < s->nr ? r->o->top : s->nr;
		for (size_t k = s->first + s->nr - s->shown; k < s->first + s->nr; k++) {
			s->shown_count += r->rows[k].count;
			s->shown_sum = (__s64)((__u64)s->shown_sum + (__u64)r->rows[k].sum);
		}
	}
	if (r->leaks)
		report_leaks_shown(r);
	return 0;
}

static bool same_units(const struct report *r)
{
	for (size_t i = 1; i < r->nr_events; i++)
		if (r->events[i].unit != r->events[0].unit)
			return false;
	return true;
}

static void free_report(struct report *r)
{
	report_stack_free(r);
	report_leaks_free(r);
	ids_free(&r->group_ids);
	ids_free(&r->row_ids);
	free(r->groups);
	free(r->group_keys);
	free(r->rows);
	free(r->sections);
	arena_free(&r->arena);
}

int report_write(const struct snap *snap, struct sym *sym,
		 const struct report_opts *o, FILE *out)
{
	static int (*const renderers[])(const struct report *, FILE *) = {
		[FORMAT_TABLE] = render_table,
		[FORMAT_FOLDED] = render_folded,
		[FORMAT_FLAME] = render_flame,
		[FORMAT_JSON] = render_json,
	};
	struct report r = { .snap = snap, .events = snap->events,
			    .nr_events = snap->nr_events, .sym = sym, .o = o, .by = o->by };
	int err;

	r.graph = o->format == FORMAT_FOLDED || o->format == FORMAT_FLAME;
	/* folded stacks begin with a name, as their readers expect */
	if (o->format == FORMAT_FOLDED && r.by == BY_PROCESS && !o->by_given)
		r.by = BY_COMM;
	err = report_stack_init(&r);
	if (!err && leaks_kept(snap))
		err = report_leaks_init(&r);
	if (!err)
		err = make_rows(&r);
	if (!err)
		err = make_sections(&r);
	if (!err) {
		/* one picture has one unit: where events differ in theirs, calls */
		r.calls = (r.leaks ? o->blocks : o->calls) ||
			  (o->format == FORMAT_FLAME && !same_units(&r));
		errno = 0;
		err = renderers[o->format](&r, out);
	}
	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	free_report(&r);
	return err;
}
