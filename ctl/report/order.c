// SPDX-License-Identifier: GPL-2.0-or-later
/* Group rows by event, sort them, and cut them to the top. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/int.h"

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

/* Has it a value beside its count? */
static bool has_value(const struct snap_event *e)
{
	return e->unit != MEMTAP_UNIT_NONE && e->unit < MEMTAP_NR_UNIT;
}

/* What grows most and is lost last, which is what is looked at first. */
static int cmp_slopes(const struct rleak *a, const struct rleak *b)
{
	const struct trend_verdict *x = &a->verdict, *y = &b->verdict;

	if (x->per_hour < y->per_hour || x->per_hour > y->per_hour)
		return x->per_hour < y->per_hour ? -1 : 1;
	return (int)(x->kind >= TREND_LOST) - (int)(y->kind >= TREND_LOST);
}

bool report_is_freed_again(const struct rrow *row)
{
	return row->leak && (row->leak->verdict.kind == TREND_CHURN ||
			     row->leak->verdict.kind == TREND_TURNOVER ||
			     row->leak->verdict.kind == TREND_SHRINKING);
}

/* What a person has to look at: higher is first. */
static int matters(const struct rleak *l)
{
	switch (l->verdict.kind) {
	case TREND_LOST:
	case TREND_LEAKING:
		return 3;
	case TREND_GROWING:
		return 2;
	case TREND_CACHE:
	case TREND_REPLACING:
		return 1;
	default:
		return 0;
	}
}

static int cmp_verdicts(const struct rleak *a, const struct rleak *b)
{
	const int c = matters(a) - matters(b);

	return c || !matters(a) ? c : cmp_slopes(a, b);
}

/*
 * The kernel's: all of it was allocated since the session began, so bytes are growth already. What
 * is freed again is behind.
 */
static int cmp_kernel(const struct rrow *a, const struct rrow *b)
{
	return (int)report_is_freed_again(b) - (int)report_is_freed_again(a);
}

static int cmp_metric(const struct report *r, const struct rrow *a, const struct rrow *b)
{
	const bool kernel = r->leaks && leaks_kernel(r->snap);
	int c = 0;

	if (kernel && r->o->sort == SORT_DEFAULT)
		c = cmp_kernel(a, b);
	if (c)
		return c;
	if (r->o->grew_first && a->leak && b->leak)
		c = cmp_s64(report_grew_bytes(a), report_grew_bytes(b));
	if (c)
		return c;
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
	case SORT_SLOPE:
		c = a->leak && b->leak ? cmp_slopes(a->leak, b->leak) : 0;
		if (c)
			return c;
		break;
	default:
		/* (it is calls that cost) */
		if (r->o->sort == SORT_DEFAULT && r->leaks && a->event == RLEAKS_TEMPORARY)
			return cmp_u64(a->count, b->count);
		c = a->leak && b->leak && !kernel ? cmp_verdicts(a->leak, b->leak) : 0;
		if (c)
			return c;
		break;
	}
	if (has_value(&r->events[a->event]))
		return cmp_s64(a->sum, b->sum);
	return cmp_u64(a->count, b->count);
}

__s64 report_row_change(const struct report *r, const struct rrow *row)
{
	if (r->o->sort == SORT_COUNT || !has_value(&r->events[row->event]))
		return report_change((__s64)row->count, (__s64)row->was_count);
	return report_change(row->sum, row->was_sum);
}

static __u64 magnitude(__s64 v)
{
	return v < 0 ? -(__u64)v : (__u64)v;
}

static bool is_hidden(enum report_changes changes, __s64 bytes, __s64 count)
{
	if (changes == CHANGES_UP)
		return bytes < 0 || (!bytes && count <= 0);
	return !bytes && !count;
}

/* Compared, and not what is asked for. */
static bool is_same(const struct report *r, const struct rrow *row)
{
	if (r->was)
		return is_hidden(r->o->changes, report_change(row->sum, row->was_sum),
				 report_change((__s64)row->count, (__s64)row->was_count));
	return r->o->changes && r->o->past && row->leak &&
	       is_hidden(r->o->changes, report_grew_bytes(row), report_grew_blocks(row));
}

/*
 * The dynamic linker's, what did not change, and what is small are not shown: they stand before
 * all others.
 */
static int shown_rank(const struct report *r, const struct rrow *row)
{
	return row->loader ? 0 : is_same(r, row) ? 1 : row->small ? 2 : 3;
}

/* What a row counts for among those of its event. */
static __u64 share(const struct report *r, const struct rrow *row)
{
	return has_value(&r->events[row->event]) ? magnitude(report_growth(row)) : row->count;
}

static int mark_small(struct report *r)
{
	double *sums;

	if (!(r->o->min_percent > 0))
		return 0;
	sums = calloc(r->nr_events + 1, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_rows; i++)
		sums[r->rows[i].event] += (double)share(r, &r->rows[i]);
	for (size_t i = 0; i < r->nr_rows; i++)
		r->rows[i].small = (double)share(r, &r->rows[i]) * 100 <
				   sums[r->rows[i].event] * r->o->min_percent;
	free(sums);
	return 0;
}

static const struct rframe *innermost(const struct report *r, const struct rrow *row)
{
	const struct rstack *st = &r->stacks[r->stacks[row->kstack].nr ? row->kstack : row->ustack];

	return st->nr ? &r->frames[st->frames[0]] : NULL;
}

static const char *object_of(const struct rframe *f)
{
	return f && f->sym && f->sym->object ? f->sym->object : "";
}

/* By a name: the first of the alphabet is first, which is the last one of a table. */
static int cmp_names(const struct report *r, const struct rrow *a, const struct rrow *b)
{
	const struct rgroup *x = &r->groups[a->group], *y = &r->groups[b->group];
	const struct rframe *f, *g;

	switch (r->o->sort) {
	case SORT_FUNCTION:
	case SORT_DSO:
		f = innermost(r, a);
		g = innermost(r, b);
		if (r->o->sort == SORT_DSO)
			return strcmp(object_of(g), object_of(f));
		return strcmp(g ? g->text : "", f ? f->text : "");
	case SORT_COMM:
		return strcmp(y->comm ? y->comm : y->label, x->comm ? x->comm : x->label);
	case SORT_THREAD:
		if (x->pid != y->pid)
			return x->pid > y->pid ? -1 : 1;
		return x->tid > y->tid ? -1 : x->tid < y->tid;
	default:
		return 0;
	}
}

/* Equal rows in an order that does not depend on CPUs or hashes. */
static int cmp_any(const struct report *r, const struct rrow *a, const struct rrow *b)
{
	int c;

	c = shown_rank(r, a) - shown_rank(r, b);
	if (!c)
		c = (int)report_is_growth(a) - (int)report_is_growth(b);
	if (!c)
		c = cmp_names(r, a, b);
	if (!c && r->was)
		c = cmp_u64(magnitude(report_row_change(r, a)),
			    magnitude(report_row_change(r, b)));
	if (!c)
		c = cmp_metric(r, a, b);
	if (!c)
		c = cmp_u64(a->count, b->count);
	if (!c)
		c = strcmp(r->groups[a->group].label, r->groups[b->group].label);
	if (!c && a->ustack != b->ustack)
		c = cmp_stacks(r, a->ustack, b->ustack);
	if (!c && a->kstack != b->kstack)
		c = cmp_stacks(r, a->kstack, b->kstack);
	if (!c && a->file && b->file)
		c = strcmp(a->file, b->file);
	if (!c)
		c = cmp_u64(a->addr, b->addr);
	return c ? c : cmp_u64(a->flags, b->flags);
}

static int cmp_rows(const void *x, const void *y, void *ctx)
{
	const struct report *r = ctx;
	const struct rrow *a = x, *b = y;
	const int c = r->o->sort == SORT_EVENT ?
		strcmp(r->events[a->event].name, r->events[b->event].name) : 0;

	if (c)
		return c;
	return a->event != b->event ? cmp_u64(a->event, b->event) : cmp_any(ctx, a, b);
}

/* Whatever they are of. */
static int cmp_merged(const void *x, const void *y, void *ctx)
{
	const struct rrow *const *a = x, *const *b = y;
	const int c = cmp_any(ctx, *a, *b);

	return c ? c : cmp_u64((*b)->event, (*a)->event);
}

static void add_to_section(const struct report *r, struct rsection *s, const struct rrow *row)
{
	s->nr++;
	s->nr_same += shown_rank(r, row) == 1;
	s->nr_small += shown_rank(r, row) == 2;
	s->nr_gone += row->leak && row->leak->gone;
	s->was_count += row->was_count;
	if (report_is_growth(row))
		s->was_sum = (__s64)((__u64)s->was_sum + (__u64)row->was_sum);
	s->count += row->count;
	s->sum = (__s64)((__u64)s->sum + (__u64)report_growth(row));
	if (!report_is_growth(row) && row->flags & MEMTAP_KEY_READONLY)
		s->read_only = (__s64)((__u64)s->read_only + (__u64)row->sum);
	else if (!report_is_growth(row))
		s->reserved = (__s64)((__u64)s->reserved + (__u64)row->sum);
	s->has_negative |= row->sum < 0;
	if (row->loader) {
		s->nr_loader++;
		s->loader_count += row->count;
		s->loader_sum = (__s64)((__u64)s->loader_sum + (__u64)report_growth(row));
	}
}

/* How many of a section are to be seen, were it not for --top. */
static size_t showable(const struct report *r, const struct rsection *s)
{
	return report_sums_only(r, s->event) ? 0 : s->nr - s->nr_loader - s->nr_same - s->nr_small;
}

static struct rsection *section_of(struct report *r, const struct rrow *row)
{
	struct rsection *s = r->sections;

	while ((size_t)(row - r->rows) >= s->first + s->nr)
		s++;
	return s;
}

/*
 * The kernel's allocators stand in one list, since it is one memory: of a section are shown those
 * of its rows that are among the top of all, which are its last ones.
 */
static int merge_sections(struct report *r)
{
	const struct rrow *swap;
	size_t nr = 0, shown;

	r->merged = calloc(r->nr_rows + 1, sizeof(*r->merged));
	if (!r->merged)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_sections; i++) {
		const struct rsection *s = &r->sections[i];

		for (size_t k = s->first + s->nr - showable(r, s); k < s->first + s->nr; k++)
			r->merged[nr++] = &r->rows[k];
	}
	if (nr)
		qsort_r(r->merged, nr, sizeof(r->merged[0]), cmp_merged, r);
	shown = r->o->top && r->o->top < nr ? r->o->top : nr;
	memmove(r->merged, r->merged + nr - shown, shown * sizeof(r->merged[0]));
	r->nr_merged = shown;
	for (size_t i = 0; i < shown; i++)
		section_of(r, r->merged[i])->shown++;
	for (size_t i = 0; r->o->grew_first && i < shown / 2; i++) {
		swap = r->merged[i];
		r->merged[i] = r->merged[shown - 1 - i];
		r->merged[shown - 1 - i] = swap;
	}
	return 0;
}

int report_order(struct maker *m)
{
	struct report *r = &m->r;
	struct rsection *s = NULL;

	if (mark_small(r))
		return -ENOMEM;
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
		add_to_section(r, s, &r->rows[i]);
	}
	if (r->leaks && leaks_kernel(r->snap) && !r->was && merge_sections(r))
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_sections; i++) {
		s = &r->sections[i];
		if (!r->merged)
			s->shown = showable(r, s);
		if (!r->merged && r->o->top && r->o->top < s->shown)
			s->shown = r->o->top;
		for (size_t k = s->first + s->nr - s->shown; k < s->first + s->nr; k++) {
			s->shown_count += r->rows[k].count;
			s->shown_gone += r->rows[k].leak && r->rows[k].leak->gone;
			s->shown_sum = (__s64)((__u64)s->shown_sum +
					       (__u64)report_growth(&r->rows[k]));
		}
	}
	if (r->leaks)
		report_leaks_shown(m);
	return 0;
}
