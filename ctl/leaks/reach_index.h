/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _REACH_INDEX_H
#define _REACH_INDEX_H

#include "leaks/reach.h"

/*
 * From an address to the block that it points into, among blocks that are sorted.
 * Blocks lie in a few dense regions (heap, arenas): each has a table from a part
 * of its addresses to the first block there.
 */
struct reach_region {
	__u64 start, end;		/* of its blocks */
	__u32 first, nr;		/* blocks */
	__u32 table;			/* where its part of tables begins */
	unsigned int shift;
};

struct reach_index {
	__u64 low, high;		/* all blocks are there */
	struct reach_region *regions;
	size_t nr_regions;
	__u32 *tables;
};

int reach_index_make(struct reach_index *x, const struct reach_block *blocks, size_t nr);
void reach_index_free(struct reach_index *x);

/* The block with @addr in it, or NULL.  One of no bytes has its own address in it. */
struct reach_block *reach_index_find(const struct reach_index *x,
				     struct reach_block *blocks, __u64 addr);

#endif
