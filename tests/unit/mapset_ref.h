/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is mapped, written down page by page: slow and obvious.  A page knows
 * the number of its range; two pages with one number are one range.
 */
#ifndef _MAPSET_REF_H
#define _MAPSET_REF_H

#include "mapset.h"

enum { REF_SPACES = 3, REF_PAGES = 64 };

struct ref_range {
	u32 ustack;			/* stands for all that is known of it */
	u16 flags;
};

struct ref {
	u32 page[REF_SPACES][REF_PAGES];	/* range number, 0 none */
	struct ref_range *range;
	u32 nr_ranges;			/* numbers given out, 0 included */
	u32 max_ranges;
	u32 room;			/* ranges that fit */
	u32 most;
	u64 base, unit;			/* address of page 0, size of a page */
	u32 mark;
	struct mapset_gone gone;
};

static int ref_has(const struct ref *r, u32 space, u32 range)
{
	for (u32 p = 0; p < REF_PAGES; p++)
		if (r->page[space][p] == range)
			return 1;
	return 0;
}

static u32 ref_used(const struct ref *r)
{
	u32 used = 0;

	for (u32 s = 0; s < REF_SPACES; s++)
		for (u32 p = 0; p < REF_PAGES; p++)
			used += r->page[s][p] && (!p || r->page[s][p - 1] != r->page[s][p]);
	return used;
}

static u32 ref_new(struct ref *r, struct ref_range range)
{
	r->range[r->nr_ranges] = range;
	return r->nr_ranges++;
}

static void ref_saw(struct ref *r)
{
	u32 used = ref_used(r);

	r->most = used > r->most ? used : r->most;
}

/* The pages from @from on that have the number @old are a range of their own. */
static void ref_split(struct ref *r, u32 space, u32 from, u32 old)
{
	/* both parts are there by now */
	u32 is_new = ref_used(r) <= r->room ? ref_new(r, r->range[old]) : 0;

	for (u32 p = from; p < REF_PAGES; p++) {
		if (r->page[space][p] != old)
			continue;
		r->page[space][p] = is_new;
		r->gone.lost += is_new ? 0 : r->unit;
	}
}

static void ref_remove(struct ref *r, u32 space, u32 from, u32 to)
{
	for (u32 p = from; p < to; p++) {
		u32 old = r->page[space][p], kind;

		if (!old)
			continue;
		kind = !!(r->range[old].flags & r->mark);
		r->page[space][p] = 0;
		r->gone.bytes[kind] += r->unit;
		r->gone.ranges[kind] += !ref_has(r, space, old);
	}
	if (from && from < to && to < REF_PAGES && r->page[space][from - 1] &&
	    r->page[space][from - 1] == r->page[space][to])
		ref_split(r, space, to, r->page[space][to]);
	ref_saw(r);
}

static int ref_add(struct ref *r, u32 space, u32 from, u32 to, struct ref_range range)
{
	u32 is_new;

	ref_remove(r, space, from, to);
	if (ref_used(r) >= r->room)
		return 0;
	is_new = ref_new(r, range);
	for (u32 p = from; p < to; p++)
		r->page[space][p] = is_new;
	ref_saw(r);
	return 1;
}

static u32 ref_purge(struct ref *r, u32 space, u32 max)
{
	u32 nr = 0;

	for (u32 p = 0; p < REF_PAGES && nr < max; p++) {
		u32 q = p;

		if (!r->page[space][p])
			continue;
		while (q < REF_PAGES && r->page[space][q] == r->page[space][p])
			q++;
		ref_remove(r, space, p, q);
		nr++;
	}
	return nr;
}

/* Space 0 is one like others, except for those who use it. */
static struct mapping ref_mapping(const struct ref *r, u32 space, u32 from, u32 to,
				  struct ref_range range)
{
	return (struct mapping){
		.start = r->base + from * r->unit, .end = r->base + to * r->unit,
		.space = space + 1, .ustack = range.ustack, .task = range.ustack * 3,
		.birth = range.ustack * 7, .event = (u16)(range.ustack * 11),
		.flags = range.flags, .left = 12345, .right = 54321, .priority = ~0U,
	};
}

static int ref_same_mapping(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->space == b->space &&
	       a->ustack == b->ustack && a->task == b->task && a->birth == b->birth &&
	       a->event == b->event && a->flags == b->flags;
}

/* Is what @t has, read in order, what is written down? */
static int ref_same(const struct ref *r, const struct mapset *t)
{
	const struct mapping *m = mapset_from(t, 0, 0);
	u32 q;

	for (u32 s = 0; s < REF_SPACES; s++)
		for (u32 p = 0; p < REF_PAGES; p = q) {
			struct mapping want;

			q = p + 1;
			if (!r->page[s][p])
				continue;
			while (q < REF_PAGES && r->page[s][q] == r->page[s][p])
				q++;
			want = ref_mapping(r, s, p, q, r->range[r->page[s][p]]);
			if (!m || !ref_same_mapping(m, &want))
				return 0;
			m = mapset_from(t, m->space, m->start + 1);
		}
	return !m && t->used == ref_used(r) && t->most == r->most;
}

/* Does each page have at or after it what is written down? */
static int ref_same_at(const struct ref *r, struct mapset *t)
{
	for (u32 s = 0; s < REF_SPACES; s++)
		for (u32 p = 0, q = 0; p < REF_PAGES; p++) {
			const struct mapping *m = mapset_at(t, s + 1, r->base + p * r->unit);

			for (q = q < p ? p : q; q < REF_PAGES && !r->page[s][q];)
				q++;
			if (q == REF_PAGES ? !!m : !m || m->space != s + 1 ||
			    m->ustack != r->range[r->page[s][q]].ustack ||
			    m->end <= r->base + q * r->unit ||
			    m->start > r->base + q * r->unit)
				return 0;
		}
	return 1;
}

static int ref_same_gone(const struct ref *r, const struct mapset_gone *gone)
{
	return !memcmp(&r->gone, gone, sizeof(*gone));
}

#endif
