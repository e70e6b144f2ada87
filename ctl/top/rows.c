// SPDX-License-Identifier: GPL-2.0-or-later
/* Compute the rows of processes from two samples: rates, filter, order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "top/state.h"

double top_seconds(const struct top *t)
{
	return t->moment.has ? t->moment.triage.seconds : 0;
}

static bool passes(const struct top *t, const struct machine_holder *h)
{
	char *end;
	unsigned long pid;

	if (!*t->filter)
		return true;
	pid = strtoul(t->filter, &end, 10);
	return *end ? strstr(h->name, t->filter) != NULL : pid == h->pid;
}

static double rate(__s64 is, __s64 was, double seconds)
{
	return seconds > 0 ? (double)(is - was) / seconds : 0;
}

static struct top_row row_of(const struct machine_growth *g, double seconds)
{
	static const struct machine_holder none;
	const struct machine_holder *is = g->now, *was = g->before ? g->before : &none;
	struct top_row row = { .now = is, .rss = (__s64)(is->bytes - is->swap),
			       .unknown = g->unknown };

	if (g->unknown)
		return row;
	row.grew = rate(row.rss, (__s64)(was->bytes - was->swap), seconds);
	row.heap = rate((__s64)is->data, (__s64)was->data, seconds);
	/* of one that is new, the time before is not known */
	if (g->before) {
		row.faults = rate((__s64)is->minor, (__s64)was->minor, seconds);
		row.major = rate((__s64)is->major, (__s64)was->major, seconds);
	}
	return row;
}

static double value_of(const struct top_row *r, enum top_sort sort)
{
	switch (sort) {
	case TOP_BY_GROWTH: return r->grew;
	case TOP_BY_RSS: return (double)r->rss;
	case TOP_BY_HEAP: return r->heap;
	case TOP_BY_FAULTS: return r->faults + r->major;
	default: return -(double)r->now->pid;
	}
}

static int compare(const void *a, const void *b, void *sort)
{
	const struct top_row *x = a, *y = b;
	const double v = value_of(x, *(const enum top_sort *)sort);
	const double w = value_of(y, *(const enum top_sort *)sort);

	if (v != w)
		return v > w ? -1 : 1;
	/* those that do not grow: the larger first */
	if (x->rss != y->rss)
		return x->rss > y->rss ? -1 : 1;
	return x->now->pid < y->now->pid ? -1 : x->now->pid > y->now->pid;
}

static void turn_round(struct top_row *rows, size_t nr)
{
	for (size_t i = 0; i < nr / 2; i++) {
		const struct top_row row = rows[i];

		rows[i] = rows[nr - 1 - i];
		rows[nr - 1 - i] = row;
	}
}

/* The bar stays on its process while that is there; else on its line. */
static void follow(struct top *t)
{
	for (size_t i = 0; t->chosen_pid && i < t->nr_rows; i++)
		if (t->rows[i].now->pid == t->chosen_pid)
			t->chosen = i;
	if (!t->batch && t->chosen >= t->nr_rows)
		t->chosen = t->nr_rows ? t->nr_rows - 1 : 0;
}

void top_read_pss(struct top *t, const struct machine_at *at)
{
	struct machine_list *all = &t->moment.now.processes;
	const size_t nr = t->shown ? t->shown : TOP_BATCH;

	t->no_pss = 0;
	if (at->past_ns)
		return;
	machine_pss_begin(at, &t->pss);
	for (size_t i = t->shown ? t->first : 0, k = 0; k < nr && i < t->nr_rows; i++, k++) {
		machine_pss(at, &t->pss, &all->at[t->rows[i].now - all->at]);
		t->no_pss += !t->rows[i].now->has_pss;
	}
}

int top_rows(struct top *t)
{
	const struct triage *tr = &t->moment.triage;
	const size_t nr = t->moment.has ? t->moment.now.processes.nr : 0;
	struct top_row *rows = realloc(t->rows, (nr + 1) * sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	t->rows = rows;
	t->nr_rows = 0;
	t->unknown = 0;
	for (size_t i = 0; i < nr; i++) {
		t->unknown += tr->processes[i].unknown;
		if (passes(t, tr->processes[i].now))
			rows[t->nr_rows++] = row_of(&tr->processes[i], tr->seconds);
	}
	qsort_r(rows, t->nr_rows, sizeof(*rows), compare, &t->sort);
	if (t->reversed)
		turn_round(rows, t->nr_rows);
	follow(t);
	return 0;
}
