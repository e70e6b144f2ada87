// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the block that contains an address. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "leaks/reach_index.h"

#define GAP	(16ULL << 20)		/* between regions */

static __u64 end_of(const struct reach_block *b)
{
	return b->addr + (b->size ? b->size : 1);
}

static bool begins_region(const struct reach_block *blocks, size_t i)
{
	return !i || blocks[i].addr - blocks[i - 1].addr >= GAP;
}

static size_t count_regions(const struct reach_block *blocks, size_t nr)
{
	size_t n = 0;

	for (size_t i = 0; i < nr; i++)
		n += begins_region(blocks, i);
	return n;
}

static void set_regions(struct reach_index *x, const struct reach_block *blocks, size_t nr)
{
	struct reach_region *r = x->regions - 1;

	for (size_t i = 0; i < nr; i++) {
		if (begins_region(blocks, i)) {
			*++r = (struct reach_region){ .start = blocks[i].addr,
						      .first = (__u32)i };
			x->nr_regions++;
		}
		r->nr++;
		r->end = end_of(&blocks[i]);
	}
}

/* At most two entries for a block, and one at the end. */
static size_t size_tables(struct reach_index *x)
{
	size_t room = 0;

	for (size_t i = 0; i < x->nr_regions; i++) {
		struct reach_region *r = &x->regions[i];

		while ((r->end - 1 - r->start) >> r->shift >= 2ULL * r->nr)
			r->shift++;
		r->table = (__u32)room;
		room += ((r->end - 1 - r->start) >> r->shift) + 2;
	}
	return room;
}

static void fill_table(struct reach_index *x, const struct reach_region *r,
		       const struct reach_block *blocks)
{
	const __u64 last = (r->end - 1 - r->start) >> r->shift;
	__u32 *table = x->tables + r->table;
	__u32 b = r->first;

	for (__u64 i = 0; i <= last; i++) {
		while (b < r->first + r->nr && (blocks[b].addr - r->start) >> r->shift < i)
			b++;
		table[i] = b;
	}
	table[last + 1] = r->first + r->nr;
}

int reach_index_make(struct reach_index *x, const struct reach_block *blocks, size_t nr)
{
	memset(x, 0, sizeof(*x));
	x->regions = calloc(count_regions(blocks, nr), sizeof(*x->regions));
	if (!x->regions)
		return -ENOMEM;
	set_regions(x, blocks, nr);
	x->tables = malloc(size_tables(x) * sizeof(*x->tables));
	if (!x->tables) {
		reach_index_free(x);
		return -ENOMEM;
	}
	for (size_t i = 0; i < x->nr_regions; i++)
		fill_table(x, &x->regions[i], blocks);
	x->low = blocks[0].addr;
	x->high = end_of(&blocks[nr - 1]);
	return 0;
}

void reach_index_free(struct reach_index *x)
{
	free(x->regions);
	free(x->tables);
	memset(x, 0, sizeof(*x));
}

static const struct reach_region *find_region(const struct reach_index *x, __u64 addr)
{
	size_t low = 0, high = x->nr_regions;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (addr < x->regions[middle].end)
			high = middle;
		else
			low = middle + 1;
	}
	return low < x->nr_regions && addr >= x->regions[low].start ? &x->regions[low] : NULL;
}

struct reach_block *reach_index_find(const struct reach_index *x,
				     struct reach_block *blocks, __u64 addr)
{
	const struct reach_region *r = find_region(x, addr);
	const __u32 *table;
	__u32 low, high;

	if (!r)
		return NULL;
	/* the first block past @addr is among these; the one before it is meant */
	table = x->tables + r->table + ((addr - r->start) >> r->shift);
	low = table[0];
	high = table[1];
	while (low < high) {
		const __u32 middle = low + (high - low) / 2;

		if (blocks[middle].addr > addr)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == r->first || addr >= end_of(&blocks[low - 1]))
		return NULL;
	return &blocks[low - 1];
}
