/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TCMALLOC_INT_H
#define _TCMALLOC_INT_H

/* What tcmalloc.c (spans) and tcmalloc_cache.c (sizes, and blocks that are cached) share. */
#include "heap/int.h"

#define TC_CLASSES	128
#define TC_PAGE		8192ULL		/* its own pages */

struct tc {
	struct heap *h;
	struct heap_words *w;
	const struct heap_area *areas;
	size_t nr_areas;
	struct heap_area data;		/* of its library or program */
	__u64 root;
	size_t arena;
	__u64 leaf;			/* address that the leaf describes which is walked */
	__u64 end;			/* of the last span */
	__s32 sizes[TC_CLASSES];	/* of blocks */
	size_t nr_sizes;
	__u64 *taken;			/* bits: objects of a span that are free */
	__u64 table[PAGE / WORD];
};

/* -ENOENT: not found */
int tc_find_sizes(struct tc *t);
/* Blocks in caches of threads, and between them and spans. */
int tc_caches(struct tc *t);

#endif
