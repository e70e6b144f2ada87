/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ADDR_INDEX_H
#define _ADDR_INDEX_H

#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

/*
 * Find the thing at an address among sorted things, such as blocks.  Things lie in a few dense
 * regions (heap, arenas).  Each region has a table from a part of the address to the first thing
 * there.  Takes at most 8 bytes a thing, and 40 a region.
 */
struct addr_region {
	__u64 start, last;		/* where its first and its last thing begin */
	__u32 first, nr;		/* things */
	size_t table;			/* where its part of the tables begins */
	unsigned int shift;
};

struct addr_index {
	const char *things;
	size_t stride;			/* from one thing to the next */
	struct addr_region *regions;
	size_t nr_regions;
	__u32 *tables;
};

/*
 * @things: sorted by the __u64 that each begins with, which is its address; they must stay where
 * they are.  -ENOMEM.
 */
int addr_index_make(struct addr_index *x, const void *things, size_t nr, size_t stride);
void addr_index_free(struct addr_index *x);

#define ADDR_INDEX_NONE	UINT32_MAX

/* The last thing that begins at @addr or before, or ADDR_INDEX_NONE. */
__u32 addr_index_find(const struct addr_index *x, __u64 addr);

#endif
