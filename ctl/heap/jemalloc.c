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
#include "heap/tree.h"

#define SAMPLE		64		/* extents that are checked before a tree is accepted */

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

/* By which layouts the first extents of a leaf add up. */
struct sample {
	struct je *j;
	__u64 first;			/* address that the leaf describes */
	size_t good[NR_LAYOUTS], seen, any;
};

static int sample_extent(void *ctx, __u64 entry, __u64 number, __u64 at)
{
	struct sample *s = ctx;
	struct je_extent e;

	(void)at;
	if (!(entry & ENTRY_MASK))
		return 0;
	s->seen++;
	for (size_t k = 0; k < NR_LAYOUTS; k++)
		if (je_extent_at(s->j->w, &layouts[k], entry, s->first + number * PAGE, &e) &&
		    (!e.slab || je_slab_adds_up(&layouts[k], &e)))
			s->any = ++s->good[k];
	return s->seen == SAMPLE || (s->seen == 8 && !s->any);
}

static bool is_leaf(void *ctx, __u64 leaf, __u64 span)
{
	struct sample s = { .j = ctx, .first = span * JE_LEAF_SPAN };
	size_t best = 0;

	tree_each(NULL, s.j->w, leaf, JE_TABLE, sample_extent, &s);
	for (size_t k = 1; k < NR_LAYOUTS; k++)
		if (s.good[k] > s.good[best])
			best = k;
	/* one may be just changed */
	if (!s.good[best] || s.good[best] + 1 < s.seen)
		return false;
	s.j->layout = layouts[best];
	return true;
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
	struct je *j = calloc(1, sizeof(*j));
	struct heap_tree t = { .w = w, .areas = areas, .nr_areas = nr, .root_len = JE_TABLE,
			       .leaf_len = JE_TABLE, .span = JE_LEAF_SPAN, .align = 64,
			       .is_leaf = is_leaf, .ctx = j };
	int err = 0;

	if (!j)
		return -ENOMEM;
	*j = (struct je){ .h = h, .w = w, .areas = areas, .nr_areas = nr };
	tree_begin(&t);
	for (size_t i = 0; i < nr && !err; i++) {
		struct heap_area data;

		if (!areas[i].data)
			continue;
		data = heap_data_at(areas, nr, &i);
		j->root = tree_find(&t, &data, data.start);
		while (j->root && !err) {
			err = walk_one(j);
			j->root = tree_find(&t, &data, j->root + JE_TABLE);
		}
	}
	if (!err && !j->number)
		err = -ENOENT;
	free(j->larges);
	free(j);
	return err;
}
