// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The heap of musl's malloc before 1.2.1 ("oldmalloc").  Its memory is a few pieces, each full of
 * chunks: a chunk has its size, and that of the one before it.  Both have a bit that says whether
 * the chunk is in use.  A piece begins with a chunk that has no neighbour, and ends with an empty
 * one, so it is recognized by walking it.  Large blocks have mappings of their own.
 */
#include <errno.h>

#include "heap/int.h"

#define CHUNK_ALIGN	32ULL		/* of blocks, that begin 16 bytes into a chunk */
#define LEAST		2		/* chunks of a piece that is believed */
#define MAPPED_FROM	(0x1c00ULL * CHUNK_ALIGN)
#define MAX_LEN		(1ULL << 42)

struct old {
	struct heap *h;
	struct heap_words *w;
	size_t arena;
	bool begun;
	const struct heap_area *areas;
	size_t nr;
	struct heap_area data;		/* where lists of free chunks begin, and end */
};

static int begin(struct old *o, __u64 at)
{
	if (o->begun)
		return 0;
	o->begun = true;
	return heap_add_arena(o->h, &(struct heap_arena){ .at = at, .allocator = HEAP_OLDMALLOC },
			      &o->arena);
}

/* A free chunk is in a list: its neighbours there are chunks, or libc's data. */
static bool is_listed(struct old *o, __u64 at)
{
	__u64 links[2], back;

	return words_at(o->w, at + HEAP_HEAD, links, sizeof(links)) && links[0] && links[1] &&
	       word_at(o->w, links[0] + HEAP_HEAD + WORD, &back) && back == at &&
	       word_at(o->w, links[1] + HEAP_HEAD, &back) && back == at;
}

/* From the first chunk on; where the piece ends, or 0: none begins here. */
static __u64 end_of(struct old *o, __u64 first, __u64 limit, size_t *chunks)
{
	__u64 at = first, head[2], before = 1, size;

	*chunks = 0;
	while (limit - at >= HEAP_HEAD && words_at(o->w, at, head, sizeof(head)) &&
	       head[0] == before) {
		if (head[1] == 1)
			return at + HEAP_HEAD;
		size = head[1] & ~1ULL;
		if (size < CHUNK_ALIGN || size % CHUNK_ALIGN || size >= limit - at ||
		    (!(head[1] & 1) && !is_listed(o, at)))
			return 0;
		before = head[1];
		at += size;
		++*chunks;
	}
	return 0;
}

static int add_chunks(struct old *o, __u64 first, __u64 end)
{
	const struct heap_chunk like = { .tail = HEAP_FULL_TAIL,
					 .arena = o->arena & (HEAP_ARENAS - 1) };
	__u64 at = first, head[2];
	int err = heap_add_piece(o->h, o->arena, first, end);

	o->h->arenas[o->arena].system += end - first;
	o->h->arenas[o->arena].pieces++;
	while (!err && words_at(o->w, at, head, sizeof(head)) && head[1] != 1 && at < end) {
		struct heap_chunk c = like;

		c.at = at;
		c.size = head[1] & ~1ULL;
		c.state = head[1] & 1 ? HEAP_USED : HEAP_FREE;
		err = heap_add(o->h, &c);
		at += head[1] & ~1ULL;
	}
	return err;
}

/* Pieces lie at the beginning of memory of the kernel; in libc's data anywhere (rests of pages). */
static int find_pieces(struct old *o, const struct heap_area *a)
{
	const bool grown = a->brk || a->anonymous;
	__u64 at = ((a->start + CHUNK_ALIGN - 1) & ~(CHUNK_ALIGN - 1)) + HEAP_HEAD, end, head[2];
	size_t chunks;
	int err = 0;

	while (at < a->end && a->end - at > HEAP_HEAD && !err) {
		if (!words_at(o->w, at, head, sizeof(head))) {
			at = words_page(o->w, (at | (PAGE - 1)) + 1, a->end) + HEAP_HEAD;
			continue;
		}
		end = head[0] == 1 && (head[1] & 1 || head[1]) ?
		      end_of(o, at, a->end, &chunks) : 0;
		if (end && chunks >= LEAST && (end - HEAP_HEAD - at) % CHUNK_ALIGN == 0) {
			err = begin(o, at);
			if (!err)
				err = add_chunks(o, at, end);
			at = end - HEAP_HEAD;
		}
		at += CHUNK_ALIGN;
		if (grown && !end && at % PAGE > 2 * CHUNK_ALIGN)
			at = ((at | (PAGE - 1)) + 1) + HEAP_HEAD;
	}
	return err;
}

/* A mapping of one block says how far the block's chunk is from its beginning. */
static int find_mapped(void *ctx, __u64 start, __u64 limit)
{
	struct old *o = ctx;
	__u64 head[2];
	int err = 0;

	for (__u64 at = words_page(o->w, start, limit); at < limit && !err;) {
		__u64 len = 0;

		if (words_at(o->w, at + HEAP_HEAD, head, sizeof(head)) && head[0] == HEAP_HEAD &&
		    !(head[1] & 1) && (head[1] + HEAP_HEAD) % PAGE == 0 &&
		    head[1] >= MAPPED_FROM && head[1] < MAX_LEN &&
		    head[1] <= limit - at - HEAP_HEAD)
			len = head[1] + HEAP_HEAD;
		if (len) {
			err = heap_add(o->h, &(struct heap_chunk){ .at = at + HEAP_HEAD,
				       .size = head[1], .state = HEAP_USED, .mapped = true,
				       .arena = o->arena & (HEAP_ARENAS - 1) });
			o->h->mapped_says += len;
		}
		at = words_page(o->w, at + (len ? len : PAGE), limit);
	}
	return err;
}

int oldmalloc_walk(struct heap *h, const struct heap_area *areas, size_t nr, struct heap_words *w)
{
	struct old o = { .h = h, .w = w, .areas = areas, .nr = nr };
	const size_t chunks = h->nr_chunks, arenas = h->nr_arenas;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		if (areas[i].brk || areas[i].anonymous || areas[i].data)
			err = find_pieces(&o, &areas[i]);
	if (err || !o.begun)
		return err ? err : -ENOENT;
	heap_sum_rest(h, arenas, chunks);
	h->no_caches = true;
	err = heap_each_beside(h, areas, nr, true, find_mapped, &o);
	heap_sort(h);
	return err;
}
