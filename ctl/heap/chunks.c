// SPDX-License-Identifier: GPL-2.0-or-later
/* What was found so far. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "heap/int.h"

int heap_add(struct heap *h, const struct heap_chunk *c)
{
	struct heap_chunk *more;

	more = ids_room(h->chunks, h->nr_chunks, &h->room_chunks, sizeof(*more));
	if (!more)
		return -ENOMEM;
	h->chunks = more;
	h->chunks[h->nr_chunks++] = *c;
	return 0;
}

int heap_add_piece(struct heap *h, __u64 start, __u64 end)
{
	struct heap_piece *more;

	more = ids_room(h->pieces, h->nr_pieces, &h->room_pieces, sizeof(*more));
	if (!more)
		return -ENOMEM;
	h->pieces = more;
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
