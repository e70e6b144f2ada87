// SPDX-License-Identifier: GPL-2.0-or-later
/* What was found so far. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/int.h"

int heap_add(struct heap *h, const struct heap_chunk *c)
{
	struct heap_chunk *more;

	if (h->nr_chunks == h->room_chunks) {
		more = reallocarray(h->chunks, 2 * h->room_chunks + 1024, sizeof(*more));
		if (!more)
			return -ENOMEM;
		h->chunks = more;
		h->room_chunks = 2 * h->room_chunks + 1024;
	}
	h->chunks[h->nr_chunks++] = *c;
	return 0;
}

int heap_add_piece(struct heap *h, __u64 start, __u64 end)
{
	struct heap_piece *more;

	if (h->nr_pieces == h->room_pieces) {
		more = reallocarray(h->pieces, 2 * h->room_pieces + 64, sizeof(*more));
		if (!more)
			return -ENOMEM;
		h->pieces = more;
		h->room_pieces = 2 * h->room_pieces + 64;
	}
	h->pieces[h->nr_pieces++] = (struct heap_piece){ start, end };
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

void heap_sort(struct heap *h)
{
	if (h->nr_chunks)
		qsort(h->chunks, h->nr_chunks, sizeof(*h->chunks), by_address);
	if (h->nr_pieces)
		qsort(h->pieces, h->nr_pieces, sizeof(*h->pieces), piece_by_address);
}

void heap_free(struct heap *h)
{
	free(h->arenas);
	free(h->chunks);
	free(h->pieces);
	memset(h, 0, sizeof(*h));
}
