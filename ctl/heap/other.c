// SPDX-License-Identifier: GPL-2.0-or-later
/* What walkers of allocators share whose blocks have no heads. */
#include <errno.h>
#include <stdlib.h>

#include "base/ids.h"
#include "heap/int.h"

const struct heap_area *heap_area_of(const struct heap_area *areas, size_t nr, __u64 addr)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;

		if (areas[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < nr && areas[lo].start <= addr ? &areas[lo] : NULL;
}

struct heap_area heap_data_at(const struct heap_area *areas, size_t nr, size_t *i)
{
	struct heap_area a = areas[*i];

	while (*i + 1 < nr && areas[*i + 1].data && areas[*i + 1].start == a.end)
		a.end = areas[++*i].end;
	return a;
}

int heap_add_arena(struct heap *h, const struct heap_arena *a, size_t *index)
{
	struct heap_arena *more;

	if (h->nr_arenas >= HEAP_ARENAS)
		return -ENOMEM;
	more = ids_grow(h->arenas, h->nr_arenas, &h->room_arenas, sizeof(*more));
	if (!more)
		return -ENOMEM;
	h->arenas = more;
	*index = h->nr_arenas;
	h->arenas[h->nr_arenas++] = *a;
	return 0;
}

int heap_add_block(struct heap *h, size_t arena, __u64 block, __u64 size, enum heap_state state)
{
	const struct heap_chunk c = { .at = block - HEAP_HEAD, .size = size, .state = state,
				      .tail = HEAP_NO_TAIL, .arena = arena & (HEAP_ARENAS - 1) };

	return heap_add(h, &c);
}

struct heap_chunk *heap_block_of(const struct heap *h, __u64 addr)
{
	size_t lo = 0, hi = h->nr_chunks;

	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;

		if (h->chunks[mid].at + HEAP_HEAD <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && addr - h->chunks[lo - 1].at - HEAP_HEAD < heap_span(&h->chunks[lo - 1]) ?
	       &h->chunks[lo - 1] : NULL;
}

void heap_miss(struct heap *h, const char *what, __u64 at)
{
	if (h->others_missing)
		return;
	h->others_missing = what;
	h->others_missing_at = at;
}

void heap_sum_rest(struct heap *h, size_t arena, size_t chunk)
{
	for (size_t i = arena; i < h->nr_arenas; i++)
		h->arenas[i].heads = h->arenas[i].system - h->arenas[i].unknown -
				     h->arenas[i].top;
	for (size_t i = chunk; i < h->nr_chunks; i++)
		h->arenas[h->chunks[i].arena].heads -= h->chunks[i].size;
}

int heap_each_beside(struct heap *h, const struct heap_area *areas, size_t nr, bool anonymous,
		     int (*fn)(void *ctx, __u64 start, __u64 end), void *ctx)
{
	size_t k = 0;
	int err = 0;

	heap_sort(h);
	for (size_t i = 0; i < nr && !err; i++) {
		__u64 from = areas[i].start;

		if (anonymous && !areas[i].anonymous)
			continue;
		while (k < h->nr_pieces && h->pieces[k].end <= from)
			k++;
		for (size_t p = k; p < h->nr_pieces && h->pieces[p].start < areas[i].end && !err;
		     p++) {
			if (h->pieces[p].start > from)
				err = fn(ctx, from, h->pieces[p].start);
			if (h->pieces[p].end > from)
				from = h->pieces[p].end;
		}
		if (!err && from < areas[i].end)
			err = fn(ctx, from, areas[i].end);
	}
	return err;
}
