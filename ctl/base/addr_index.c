// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the thing at an address; see addr_index.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr_index.h"

#define GAP	(16ULL << 20)		/* between regions */

static __u64 addr_of(const struct addr_index *x, size_t i)
{
	__u64 addr;

	memcpy(&addr, x->things + i * x->stride, sizeof(addr));
	return addr;
}

static bool begins_region(const struct addr_index *x, size_t i)
{
	return !i || addr_of(x, i) - addr_of(x, i - 1) >= GAP;
}

static size_t count_regions(const struct addr_index *x, size_t nr)
{
	size_t n = 0;

	for (size_t i = 0; i < nr; i++)
		n += begins_region(x, i);
	return n;
}

static void set_regions(struct addr_index *x, size_t nr)
{
	struct addr_region *r = x->regions - 1;

	for (size_t i = 0; i < nr; i++) {
		if (begins_region(x, i)) {
			*++r = (struct addr_region){ .start = addr_of(x, i), .first = (__u32)i };
			x->nr_regions++;
		}
		r->nr++;
		r->last = addr_of(x, i);
	}
}

/* At most two entries for a thing, and one at the end. */
static size_t size_tables(struct addr_index *x)
{
	size_t room = 0;

	for (size_t i = 0; i < x->nr_regions; i++) {
		struct addr_region *r = &x->regions[i];

		while ((r->last - r->start) >> r->shift >= 2ULL * r->nr)
			r->shift++;
		r->table = room;
		room += ((r->last - r->start) >> r->shift) + 2;
	}
	return room;
}

static void fill_table(struct addr_index *x, const struct addr_region *r)
{
	const __u64 last = (r->last - r->start) >> r->shift;
	__u32 *table = x->tables + r->table;
	__u32 at = r->first;

	for (__u64 i = 0; i <= last; i++) {
		while (at < r->first + r->nr && (addr_of(x, at) - r->start) >> r->shift < i)
			at++;
		table[i] = at;
	}
	table[last + 1] = r->first + r->nr;
}

int addr_index_make(struct addr_index *x, const void *things, size_t nr, size_t stride)
{
	*x = (struct addr_index){ .things = things, .stride = stride };
	if (nr >= ADDR_INDEX_NONE)
		return -E2BIG;
	x->regions = calloc(count_regions(x, nr) + 1, sizeof(*x->regions));
	if (!x->regions)
		return -ENOMEM;
	set_regions(x, nr);
	x->tables = malloc((size_tables(x) + 1) * sizeof(*x->tables));
	if (!x->tables) {
		addr_index_free(x);
		return -ENOMEM;
	}
	for (size_t i = 0; i < x->nr_regions; i++)
		fill_table(x, &x->regions[i]);
	return 0;
}

void addr_index_free(struct addr_index *x)
{
	free(x->regions);
	free(x->tables);
	memset(x, 0, sizeof(*x));
}

/* The last region that begins at @addr or before. */
static const struct addr_region *find_region(const struct addr_index *x, __u64 addr)
{
	size_t low = 0, high = x->nr_regions;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (x->regions[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &x->regions[low - 1] : NULL;
}

__u32 addr_index_find(const struct addr_index *x, __u64 addr)
{
	const struct addr_region *r = find_region(x, addr);
	const __u32 *table;
	__u32 low, high;

	if (!r)
		return ADDR_INDEX_NONE;
	if (addr >= r->last)
		return r->first + r->nr - 1;
	/* the first thing past @addr is among these; the one before it is meant */
	table = x->tables + r->table + ((addr - r->start) >> r->shift);
	low = table[0];
	high = table[1];
	while (low < high) {
		const __u32 middle = low + (high - low) / 2;

		if (addr_of(x, middle) > addr)
			high = middle;
		else
			low = middle + 1;
	}
	return low - 1;
}
