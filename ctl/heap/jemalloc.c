// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find jemalloc 5.0 to 5.3.  All memory that it has of the kernel is divided into extents of whole
 * pages.  A tree of two levels leads from the address of a page to its extent: the root is an array
 * of 2 MiB among the zeros of the library or program, and each leaf describes 1 GiB of addresses.
 *
 * Debian strips the symbol of the root.  So each pointer in such memory is tried as an entry of a
 * root: the array then begins at a place that the addresses of mappings give.  It is accepted if
 * what the leaf describes lies where the leaf says, and adds up: size, size class, and bitmap.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/jemalloc_int.h"

#define SAMPLE		64		/* extents that are checked before a tree is accepted */
#define MAX_TRIES	4096U		/* leaves that are read in search of a tree */
#define MAX_SPANS	256U		/* of 1 GiB each, in which a heap may begin */

static const struct je_layout layouts[] = {
	{ 17, 3, 20, 28, 4 },		/* 5.3 */
	{ 16, 2, 18, 26, 4 },		/* 5.1, 5.2 */
	{ 15, 2, 17, 25, 4 },		/* 5.0 */
	{ 17, 3, 20, 28, 3 },		/* the same, configured with --with-lg-quantum=3 */
	{ 16, 2, 18, 26, 3 },
	{ 15, 2, 17, 25, 3 },
};

#define NR_LAYOUTS	(sizeof(layouts) / sizeof(layouts[0]))

/* ---- the tree ---- */

struct search {
	struct je *j;
	__u32 spans[MAX_SPANS];		/* where memory may be that the kernel gave, in GiB */
	size_t nr_spans;
	unsigned int tries;
};

static void find_spans(struct search *s)
{
	for (size_t i = 0; i < s->j->nr_areas; i++) {
		const struct heap_area *a = &s->j->areas[i];

		if (!a->anonymous && !a->brk)
			continue;
		for (__u64 k = a->start / JE_LEAF_SPAN; k <= (a->end - 1) / JE_LEAF_SPAN; k++) {
			if (s->nr_spans && s->spans[s->nr_spans - 1] == k)
				continue;
			if (s->nr_spans == MAX_SPANS || k >= JE_SLOTS)
				return;
			s->spans[s->nr_spans++] = (__u32)k;
		}
	}
}

/* By which layout do the first extents of this leaf add up?  NULL: by none. */
static const struct je_layout *layout_of(struct je *j, __u64 leaf, __u64 span)
{
	size_t good[NR_LAYOUTS] = { 0 }, seen = 0, any = 0, best = 0;
	struct je_extent e;

	for (__u64 page = words_page(j->w, leaf, leaf + JE_TABLE);
	     page < leaf + JE_TABLE && seen < SAMPLE;
	     page = words_page(j->w, page + PAGE, leaf + JE_TABLE)) {
		if (words_page_at(j->w, page, j->leaf) <= 0)
			continue;
		for (size_t i = 0; i < PAGE / WORD && seen < SAMPLE; i++) {
			const __u64 at = page + i * WORD;
			const __u64 key = span * JE_LEAF_SPAN + (at - leaf) / WORD * PAGE;

			/* (leaves begin at lines of the cache, and so between pages) */
			if (at < leaf || at >= leaf + JE_TABLE || !(j->leaf[i] & ENTRY_MASK))
				continue;
			seen++;
			for (size_t k = 0; k < NR_LAYOUTS; k++)
				if (je_extent_at(j->w, &layouts[k], j->leaf[i], key, &e) &&
				    (!e.slab || je_slab_adds_up(&layouts[k], &e)))
					any = ++good[k];
			if (seen == 8 && !any)
				return NULL;
		}
	}
	for (size_t k = 1; k < NR_LAYOUTS; k++)
		if (good[k] > good[best])
			best = k;
	/* one may be just changed */
	return good[best] && good[best] + 1 >= seen ? &layouts[best] : NULL;
}

static bool is_root(struct search *s, const struct heap_area *data, __u64 at, __u64 leaf)
{
	struct je *j = s->j;
	const struct heap_area *a;

	for (size_t i = 0; i < s->nr_spans; i++) {
		const __u64 back = (__u64)s->spans[i] * WORD;
		const struct je_layout *l;

		if (at - data->start < back || at - back + JE_TABLE > data->end)
			continue;
		a = heap_area_of(j->areas, j->nr_areas, leaf);
		if (!a || (!a->anonymous && !a->brk) || a->end - leaf < JE_TABLE ||
		    ++s->tries > MAX_TRIES)
			return false;
		l = layout_of(j, leaf, s->spans[i]);
		if (!l)
			continue;
		j->layout = *l;
		j->root = at - back;
		return true;
	}
	return false;
}

/* From @from on; where the root ends, or 0. */
static __u64 find_root(struct search *s, const struct heap_area *data, __u64 from)
{
	struct je *j = s->j;

	for (__u64 page = words_next(j->w, from, data->end) & ~(PAGE - 1); page < data->end;
	     page = words_page(j->w, page + PAGE, data->end)) {
		if (!words_at(j->w, page, j->table, PAGE))
			continue;
		for (size_t i = 0; i < PAGE / WORD; i++) {
			const __u64 v = j->table[i], at = page + i * WORD;

			if (!v || v % 64 || v >> 47 || at < from || s->tries > MAX_TRIES)
				continue;
			if (is_root(s, data, at, v))
				return j->root + JE_TABLE;
		}
	}
	return 0;
}

static int walk_one(struct je *j)
{
	int err;

	memset(j->arenas, 0, sizeof(j->arenas));
	j->end = j->last_start = j->last_end = 0;
	j->padded = false;
	j->nr_larges = 0;
	err = je_walk(j);
	heap_sort(j->h);
	if (!err)
		err = je_caches(j);
	j->number++;
	return err;
}

int jemalloc_walk(struct heap *h, const struct heap_area *areas, size_t nr, struct heap_words *w)
{
	struct search s = { .nr_spans = 0 };
	int err = 0;

	s.j = calloc(1, sizeof(*s.j));
	if (!s.j)
		return -ENOMEM;
	*s.j = (struct je){ .h = h, .w = w, .areas = areas, .nr_areas = nr };
	find_spans(&s);
	for (size_t i = 0; i < nr && !err; i++) {
		struct heap_area data;
		__u64 from;

		if (!areas[i].data)
			continue;
		data = heap_data_at(areas, nr, &i);
		from = data.end - data.start < JE_TABLE ? 0 : data.start;
		while (from && !err) {
			from = find_root(&s, &data, from);
			if (from)
				err = walk_one(s.j);
		}
	}
	if (!err && !s.j->number)
		err = -ENOENT;
	free(s.j->larges);
	free(s.j);
	return err;
}
