// SPDX-License-Identifier: GPL-2.0-or-later
/* Store the chunks and arenas that were found. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "heap/int.h"

int heap_add(struct heap *h, const struct heap_chunk *c)
{
	struct heap_chunk *more;

	more = ids_grow(h->chunks, h->nr_chunks, &h->room_chunks, sizeof(*more));
	if (!more)
		return -ENOMEM;
	h->chunks = more;
	h->chunks[h->nr_chunks++] = *c;
	return 0;
}

int heap_add_piece(struct heap *h, size_t arena, __u64 start, __u64 end)
{
	struct heap_piece *more;

	if (start >= end)
		return 0;
	more = ids_grow(h->pieces, h->nr_pieces, &h->room_pieces, sizeof(*more));
	if (!more)
		return -ENOMEM;
	h->pieces = more;
	h->pieces[h->nr_pieces++] = (struct heap_piece){ start, end, arena };
	return 0;
}

int heap_add_gap(struct heap *h, size_t arena, __u64 start, __u64 end, const char *why)
{
	struct heap_gap *more;

	if (start >= end)
		return 0;
	more = ids_grow(h->gaps, h->nr_gaps, &h->room_gaps, sizeof(*more));
	if (!more)
		return -ENOMEM;
	h->gaps = more;
	h->gaps[h->nr_gaps++] = (struct heap_gap){ start, end, arena, why };
	return 0;
}

static int by_address(const void *x, const void *y)
{
	const struct heap_chunk *a = x, *b = y;

	return (a->at > b->at) - (a->at < b->at);
}

struct heap_chunk *heap_find(const struct heap *h, __u64 at)
{
	const struct heap_chunk key = { .at = at };

	return h->nr_chunks ? bsearch(&key, h->chunks, h->nr_chunks, sizeof(key), by_address) :
			      NULL;
}

static int piece_by_address(const void *x, const void *y)
{
	const struct heap_piece *a = x, *b = y;

	return (a->start > b->start) - (a->start < b->start);
}

static int gap_by_address(const void *x, const void *y)
{
	const struct heap_gap *a = x, *b = y;

	return (a->start > b->start) - (a->start < b->start);
}

void heap_sort(struct heap *h)
{
	if (h->nr_gaps)
		qsort(h->gaps, h->nr_gaps, sizeof(*h->gaps), gap_by_address);
	if (h->nr_chunks)
		qsort(h->chunks, h->nr_chunks, sizeof(*h->chunks), by_address);
	if (h->nr_pieces)
		qsort(h->pieces, h->nr_pieces, sizeof(*h->pieces), piece_by_address);
}

bool heap_is_sure(const struct heap *h, size_t arena)
{
	const struct heap_arena *a = &h->arenas[arena];

	return !a->why && !a->changed && !(a->busy && a->unknown);
}

int heap_each_unused(const struct heap *h, int (*fn)(__u64 start, __u64 end, void *ctx), void *ctx)
{
	size_t i = 0;
	int ret = 0;

	for (size_t k = 0; k < h->nr_pieces && !ret; k++) {
		const struct heap_piece *p = &h->pieces[k];
		__u64 from = p->start;

		if (!heap_is_sure(h, p->arena))
			continue;
		while (i < h->nr_chunks && h->chunks[i].at + HEAP_HEAD < p->start)
			i++;
		for (; i < h->nr_chunks && h->chunks[i].at + HEAP_HEAD < p->end && !ret; i++) {
			const struct heap_chunk *c = &h->chunks[i];

			if (c->state != HEAP_USED)
				continue;
			if (c->at + HEAP_HEAD > from)
				ret = fn(from, c->at + HEAP_HEAD, ctx);
			/* (of glibc's, the first word of the next one is still its own) */
			from = c->at + HEAP_HEAD + heap_span(c);
		}
		if (!ret && from < p->end)
			ret = fn(from, p->end, ctx);
	}
	return ret;
}

__u64 heap_unknown(const struct heap *h)
{
	__u64 bytes = h->mapped_why ? h->mapped_says : h->mapped_unknown;

	for (size_t i = 0; i < h->nr_arenas; i++)
		bytes += h->arenas[i].unknown;
	return bytes;
}

void heap_free(struct heap *h)
{
	free(h->arenas);
	free(h->chunks);
	free(h->pieces);
	free(h->gaps);
	memset(h, 0, sizeof(*h));
}
