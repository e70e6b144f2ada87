/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _REACH_INDEX_H
#define _REACH_INDEX_H

#include "leaks/reach.h"

/*
 * Find the block that contains an address, among sorted blocks.  Blocks lie in a few dense regions
 * (heap, arenas).  Each region has a table from a part of the address to the first block there.
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
