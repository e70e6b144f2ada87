// SPDX-License-Identifier: GPL-2.0-or-later
/* Find or add the row for a key. */
#include <time.h>

#include "report/int.h"

static bool same_row(const void *things, __u32 id, const void *key)
{
	const struct rrow *a = &((const struct report *)things)->rows[id], *b = key;

	return a->event == b->event && a->flags == b->flags && a->group == b->group &&
	       a->kmerged == b->kmerged && a->umerged == b->umerged && a->addr == b->addr;
}

static __u64 hash_of(const struct rrow *key)
{
	__u64 hash = ids_mix((__u64)key->event << 32 | key->flags, key->group);

	hash = ids_mix(hash, (__u64)key->kmerged << 32 | key->umerged);
	return ids_mix(hash, key->addr);
}

static struct rrow *find(struct maker *m, const struct rrow *key)
{
	const __u32 id = ids_find(&m->row_ids, hash_of(key), same_row, &m->r, key);

	return id == IDS_NONE ? NULL : &m->r.rows[id];
}

static struct rrow *add(struct maker *m, const struct rrow *key)
{
	struct rrow *rows;
	__u32 id;

	rows = ids_grow(m->r.rows, m->row_ids.nr, &m->room_rows, sizeof(*rows));
	if (!rows)
		return NULL;
	m->r.rows = rows;
	id = ids_add(&m->row_ids, hash_of(key));
	if (id == IDS_NONE)
		return NULL;
	rows[id] = *key;
	m->r.nr_rows = m->row_ids.nr;
	return &rows[id];
}

static bool set_merged(struct maker *m, struct rrow *key)
{
	const __s64 k = report_merged(m, key->kstack), u = report_merged(m, key->ustack);

	if (k < 0 || u < 0)
		return false;
	key->kmerged = (__u32)k;
	key->umerged = (__u32)u;
	return true;
}

struct rrow *report_row(struct maker *m, const struct rrow *key)
{
	struct rrow merged = *key, *row;

	if (!set_merged(m, &merged))
		return NULL;
	row = find(m, &merged);
	if (!row)
		row = add(m, &merged);
	if (!row || report_blend(m, &row->kstack, key->kstack) ||
	    report_blend(m, &row->ustack, key->ustack))
		return NULL;
	return row;
}

struct rrow *report_find_row(struct maker *m, const struct rrow *key)
{
	struct rrow merged = *key;

	return set_merged(m, &merged) ? find(m, &merged) : NULL;
}

/* The last series of a row is that of this part, or becomes it. */
struct rseries *report_series(struct maker *m, struct rrow *row, __u32 span)
{
	struct report *r = &m->r;
	struct rseries *all;

	if (row->series && r->series[row->series - 1].span == span)
		return &r->series[row->series - 1];
	if (r->nr_series >= ~0U - 1)
		return NULL;
	all = ids_grow(r->series, r->nr_series, &m->room_series, sizeof(*all));
	if (!all)
		return NULL;
	r->series = all;
	all[r->nr_series] = (struct rseries){ .span = span, .next = row->series };
	r->nr_series++;
	row->series = (__u32)r->nr_series;
	return &all[r->nr_series - 1];
}

void report_progress(const struct maker *m, size_t done, size_t all)
{
	static struct timespec last;
	struct timespec now;

	if (!m->r.o->progress || done % 64)
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
