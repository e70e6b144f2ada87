// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorted ranges of addresses. */
#include <errno.h>
#include <stdlib.h>

#include "leaks/reach_int.h"

int ranges_add(struct ranges *r, __u64 start, __u64 end, bool starts_only)
{
	struct reach_range *more;

	if (start >= end)
		return 0;
	if (r->nr == r->room) {
		more = reallocarray(r->at, 2 * r->room + 64, sizeof(*more));
		if (!more)
			return -ENOMEM;
		r->at = more;
		r->room = 2 * r->room + 64;
	}
	r->at[r->nr++] = (struct reach_range){ start, end, starts_only };
	return 0;
}

static int cmp_ranges(const void *a, const void *b)
{
	const struct reach_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

void ranges_merge(struct ranges *r)
{
	size_t nr = 0;

	if (r->nr)
		qsort(r->at, r->nr, sizeof(*r->at), cmp_ranges);
	for (size_t i = 0; i < r->nr; i++) {
		struct reach_range *last = nr ? &r->at[nr - 1] : NULL;

		if (!last || r->at[i].start > last->end)
			r->at[nr++] = r->at[i];
		else if (r->at[i].end > last->end)
			last->end = r->at[i].end;
	}
	r->nr = nr;
}

size_t ranges_behind(const struct ranges *r, __u64 addr)
{
	size_t low = 0, high = r->nr;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (r->at[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool ranges_have(const struct ranges *r, __u64 addr)
{
	const size_t i = ranges_behind(r, addr);

	return i < r->nr && r->at[i].start <= addr;
}

const struct area *layout_find(const struct layout *l, __u64 addr)
{
	size_t low = 0, high = l->nr;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (addr < l->areas[middle].end)
			high = middle;
		else
			low = middle + 1;
	}
	return low < l->nr && addr >= l->areas[low].start ? &l->areas[low] : NULL;
}
