// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The heap of mimalloc 2.0.  Segments lie at multiples of 32 MiB.  Each begins with its
 * description: slices of 64 KiB, of which one or more make a page of blocks of one size.  A page
 * has lists of its free blocks, which must be as many as it says are not in use.  Nothing leads to
 * all segments, so each such place is looked at: the slices must fill the segment exactly.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/int.h"

#define SEGMENT		(32ULL << 20)
#define SLICE		(64ULL << 10)
#define MOST_SLICES	(SEGMENT / SLICE)
#define HUGE_BLOCK	(1ULL << 31)	/* its size does not stand in the page */
#define SMALL_BLOCK	1024		/* up to it, blocks begin later in a page */
#define SMALL_START	384
#define MOST_LEN	(1ULL << 42)
#define HEAP_DELAYED	2840		/* in a thread's heap: blocks that others freed */
#define MAX_HEAPS	4096U

static const char bad_list[] = "its lists of free blocks are inconsistent";

/* 80 bytes, from the first word on; 96 with keys of lists, which are not followed */
struct page {
	__u32 slices, back;
	__u8 bits, pad;
	__u16 capacity, reserved;
	__u8 flags, more;
	__u64 free;
	__u32 used, size;
	__u64 local_free, thread_free, heap;
	__u64 next, before, padding;
};

struct mi {
	struct heap *h;
	struct heap_words *w;
	size_t arena;
	bool begun;			/* the arena is there */
	__u64 heaps[MAX_HEAPS];
	size_t nr_heaps;
	__u8 state[65536];		/* of the blocks of a page: enum heap_state */
	__u64 words[SLICE / WORD];	/* a segment's description */
};

struct segment {
	__u64 at, len;
	const struct page *slices;
	size_t nr, own;			/* slices; those of its description */
	bool huge;			/* one block */
};

/* ---- segments ---- */

/* Slices follow each other up to the end; the first one of a page says how many it has. */
static bool adds_up(const struct segment *s)
{
	size_t i = 0;

	if (s->slices[0].slices != s->own || s->slices[0].back)
		return false;
	if (s->huge)
		return s->own < s->nr && s->slices[s->own].slices == s->len / SLICE - s->own &&
		       !s->slices[s->own].back;
	while (i < s->nr) {
		const struct page *p = &s->slices[i];

		if (!p->slices || p->slices > s->nr - i || p->back ||
		    p->capacity > p->reserved)
			return false;
		i += p->slices;
	}
	return true;
}

/*
 * Before the slices stand: how many in all, how many of its own, kind, how many are described, and
 * the thread.  What is before that differs from version to version.
 */
static bool segment_at(struct mi *m, __u64 at, __u64 limit, struct segment *s)
{
	bool all = true;

	if (words_page(m->w, at, at + PAGE) != at)
		return false;
	for (__u64 off = 0; off < SLICE; off += PAGE)
		all &= words_page_at(m->w, at + off, m->words + off / WORD) >= 0;
	for (size_t k = 10; k < 48; k++) {
		const __u64 *words = m->words + k;

		if (!words[0] || words[0] > MOST_LEN / SLICE || !words[1] || words[1] > 8 ||
		    (__u32)words[2] > 1 || !words[3] || words[3] > MOST_SLICES ||
		    words[3] > words[0] || words[0] * SLICE > limit - at)
			continue;
		*s = (struct segment){ .at = at, .len = words[0] * SLICE,
				       .slices = (const struct page *)(words + 5),
				       .nr = (size_t)words[3], .own = (size_t)words[1],
				       .huge = (__u32)words[2] };
		if ((s->huge || words[0] == MOST_SLICES) && adds_up(s))
			return true;
		if (!all && words[4] && words[0] == MOST_SLICES)
			heap_miss(m->h, "a segment's description was not read", at);
	}
	return false;
}

/* ---- pages ---- */

static __u64 block_size(const struct page *p)
{
	return p->size < HUGE_BLOCK ? p->size : p->slices * SLICE;
}

/* How many are in a list, which get @state; -1: it makes no sense. */
static long follow(struct mi *m, __u64 at, __u64 start, __u64 size, __u64 nr, __u8 state)
{
	long n = 0;

	while (at) {
		const __u64 i = (at - start) / size;

		if (at < start || i >= nr || (at - start) % size || m->state[i] != HEAP_USED)
			return -1;
		m->state[i] = state;
		n++;
		if (!word_at(m->w, at, &at))
			return -1;
	}
	return n;
}

static void note_heap(struct mi *m, __u64 heap)
{
	for (size_t i = 0; i < m->nr_heaps; i++)
		if (m->heaps[i] == heap)
			return;
	if (heap && m->nr_heaps < MAX_HEAPS)
		m->heaps[m->nr_heaps++] = heap;
}

static int add_page(struct mi *m, const struct segment *s, size_t slice)
{
	const struct page *p = &s->slices[slice];
	const __u64 size = block_size(p), at = s->at + slice * SLICE, len = p->slices * SLICE;
	const __u64 start = at + (size <= SMALL_BLOCK ? SMALL_START : 0);
	struct heap_arena *a = &m->h->arenas[m->arena];
	long free, local, thread;
	int err = 0;

	a->system += len;
	if (size < WORD || size % WORD || p->capacity * size > at + len - start)
		goto bad;
	memset(m->state, HEAP_USED, p->capacity);
	free = follow(m, p->free, start, size, p->capacity, HEAP_FREE);
	local = follow(m, p->local_free, start, size, p->capacity, HEAP_FREE);
	thread = follow(m, p->thread_free & ~3ULL, start, size, p->capacity, HEAP_CACHED);
	if (free < 0 || local < 0 || thread < 0 ||
	    (__u64)(free + local) + p->used != p->capacity || (__u64)thread > p->used)
		goto bad;
	for (size_t i = 0; i < p->capacity && !err; i++)
		err = heap_add_block(m->h, m->arena, start + i * size, size, m->state[i]);
	/* blocks that were never used have no place in a list yet */
	if (p->reserved >= p->capacity && p->reserved * size <= at + len - start)
		a->top += (p->reserved - p->capacity) * size;
	note_heap(m, p->heap);
	return err;
bad:
	a->unknown += len;
	return heap_add_gap(m->h, m->arena, at, at + len, words_why(m->w, at, bad_list));
}

static int add_segment(struct mi *m, const struct segment *s)
{
	int err = 0;

	if (!m->begun)
		err = heap_add_arena(m->h, &(struct heap_arena){ .at = s->at,
				     .allocator = HEAP_MIMALLOC }, &m->arena);
	m->begun = true;
	if (err)
		return err;
	err = heap_add_piece(m->h, m->arena, s->at, s->at + s->len);
	m->h->arenas[m->arena].pieces++;
	m->h->arenas[m->arena].system += s->own * SLICE;
	for (size_t i = s->own; i < s->nr && !err; i += s->slices[i].slices) {
		/* those that have no size are free, and perhaps not there */
		if (s->slices[i].size > 1)
			err = add_page(m, s, i);
		if (s->huge)
			break;
	}
	return err;
}

/* ---- all ---- */

/* What other threads freed of full pages waits for the thread that owns them. */
static void take_delayed(struct mi *m)
{
	for (size_t i = 0; i < m->nr_heaps; i++) {
		__u64 at = 0;
		size_t n = 0;

		if (!word_at(m->w, m->heaps[i] + HEAP_DELAYED, &at))
			continue;
		for (; at && n < m->h->nr_chunks; n++) {
			struct heap_chunk *c = heap_find(m->h, at - HEAP_HEAD);

			if (!c || c->state != HEAP_USED || c->tail != HEAP_NO_TAIL ||
			    !word_at(m->w, at, &at))
				break;
			c->state = HEAP_CACHED;
		}
	}
}

int mimalloc_walk(struct heap *h, const struct heap_area *areas, size_t nr, struct heap_words *w)
{
	const size_t chunks = h->nr_chunks, arenas = h->nr_arenas;
	struct mi *m = calloc(1, sizeof(*m));
	struct segment s;
	int err = 0;

	if (!m)
		return -ENOMEM;
	m->h = h;
	m->w = w;
	for (size_t i = 0; i < nr && !err; i++) {
		__u64 at = (areas[i].start + SEGMENT - 1) & ~(SEGMENT - 1), end = areas[i].end;

		/* what is not touched yet may be another mapping */
		while (areas[i].anonymous && i + 1 < nr && areas[i + 1].anonymous &&
		       areas[i + 1].start == end)
			end = areas[++i].end;
		while (areas[i].anonymous && at < end && !err) {
			const bool is = segment_at(m, at, end, &s);

			if (is)
				err = add_segment(m, &s);
			at += is ? (s.len + SEGMENT - 1) & ~(SEGMENT - 1) : SEGMENT;
		}
	}
	if (!err && m->begun) {
		heap_sum_rest(h, arenas, chunks);
		heap_sort(h);
		take_delayed(m);
	}
	if (!err && !m->begun)
		err = -ENOENT;
	free(m);
	return err;
}
