// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find the pieces of a main arena.  Its memory is [heap].  If other code moved the break by
 * sbrk(), the arena continues behind that memory, and the piece before it ends with two chunks of
 * 16 bytes.  If malloc cannot or must not use brk() (a libc that dlmopen() mapped;
 * glibc.malloc.hugetlb=2), the pieces are mappings, and no pointer leads to them.  Such a piece is
 * recognized because it fills whole pages with chunks that add up.
 */
#include <errno.h>

#include "heap/int.h"

#define TRIES		(1UL << 20)	/* places where a piece may begin */
#define MOST_IN_VAIN	(1UL << 22)	/* chunks, on wrong ways to it */
#define PASSING_TRIES	64UL		/* of the first one, where it may just be used */

static const char not_whole[] = "its chunks are inconsistent";
static const char elsewhere[] = "its memory is neither in [heap] nor in a consistent mapping";

static enum ending next_piece(struct walk *k, __u64 from, size_t most, __u64 *start, __u64 *to)
{
	enum ending e = BROKEN;
	size_t tries = 0;

	for (__u64 at = (from + ALIGN - 1) & ~(ALIGN - 1); at < k->end && tries < most &&
	     k->in_vain < MOST_IN_VAIN;
	     at += ALIGN, tries++) {
		if (k->top >= from && k->top < k->end && at > k->top)
			break;
		e = walk_try(k, at, to);
		if (e == BROKEN) {
			at = words_next(k->w, at, k->end) & ~(ALIGN - 1);
			continue;
		}
		*start = at;
		return e;
	}
	return BROKEN;
}

struct main_one {
	struct walk k;
	struct heap_arena *a;
	struct heap_place *place;
	bool at_top;			/* its last piece was found */
};

static int take_piece(struct main_one *m, __u64 start, __u64 to, enum ending e)
{
	if (!m->a->pieces++)
		m->place->base = start;
	m->at_top |= e == AT_THE_TOP;
	return heap_add_piece(m->k.h, m->k.arena, start, to);
}

/* Pieces of [heap]: the first may begin anywhere. */
static int walk_brk(struct main_one *m, const struct heap_area *span)
{
	const bool passing = m->k.w->m->passing;
	__u64 from = span->start, start, to;
	bool first = true;
	enum ending e;

	m->k.end = span->end;
	do {
		e = next_piece(&m->k, from, passing && first ? PASSING_TRIES : TRIES, &start, &to);
		if (e == BROKEN)
			return 0;
		if (e == NO_MEMORY)
			return -ENOMEM;
		if (!first)
			m->a->foreign += start - from;
		first = false;
		if (take_piece(m, start, to, e))
			return -ENOMEM;
		from = to;
	} while (e == AT_FENCE && from < span->end);
	return 0;
}

/* Something that could be the head of a first chunk is rare at the beginning of a page. */
static bool may_begin(struct walk *k, __u64 page)
{
	__u64 head[2];

	return words_at(k->w, page, head, sizeof(head)) && !head[0] &&
	       (head[1] & FLAGS) == IN_USE_BEFORE && (head[1] & ~FLAGS) >= SMALLEST &&
	       walk_is_size(k, page, head[1]);
}

static int walk_mapped(struct main_one *m, const struct heap_area *span)
{
	__u64 page = words_next(m->k.w, span->start, span->end) & ~(PAGE - 1), to;
	enum ending e;

	m->k.end = span->end;
	while (page < span->end) {
		e = may_begin(&m->k, page) ? walk_try(&m->k, page, &to) : BROKEN;
		if (e == NO_MEMORY || (e != BROKEN && take_piece(m, page, to, e)))
			return -ENOMEM;
		page = e == BROKEN ? page + PAGE : (to + PAGE - 1) & ~(PAGE - 1);
		page = words_next(m->k.w, page, span->end) & ~(PAGE - 1);
	}
	return 0;
}

static bool has(const struct heap_area *span, __u64 addr)
{
	return addr >= span->start && addr < span->end;
}

/* Of several libcs one may have [heap]: whose top is there, or else the first one. */
static bool may_have(const struct heap *h, const struct heap_arena *a, const struct heap_area *span)
{
	for (size_t i = 0; i < h->nr_arenas; i++)
		if (!h->arenas[i].number && &h->arenas[i] != a && has(span, h->arenas[i].top_at))
			return false;
	return !a->libc || has(span, a->top_at);
}

int main_walk(struct heap *h, size_t nr, struct heap_place *place, const struct heap_spans *spans,
	      struct heap_words *w)
{
	struct heap_arena *a = &h->arenas[nr];
	struct main_one m = { { .h = h, .w = w, .arena = nr, .top = a->top_at }, a, place, false };
	const size_t chunks = h->nr_chunks;
	int err = 0;

	for (size_t i = 0; i < spans->nr && !err; i++)
		if (spans->at[i].brk && may_have(h, a, &spans->at[i]))
			err = walk_brk(&m, &spans->at[i]);
	for (size_t i = 0; i < spans->nr && !err && !m.at_top; i++)
		if (!spans->at[i].brk && has(&spans->at[i], a->top_at))
			err = walk_mapped(&m, &spans->at[i]);
	a->top = m.k.top_size;
	a->heads = m.k.heads;
	for (size_t i = 0; i < spans->nr && !err && m.at_top &&
	     a->system > walk_has(h, a, chunks) + ALIGN; i++) {
		if (!spans->at[i].brk && !has(&spans->at[i], a->top_at))
			err = walk_mapped(&m, &spans->at[i]);
		a->heads = m.k.heads;
	}
	if (!err && !m.at_top)
		a->why = a->pieces ? not_whole : elsewhere;
	return err;
}
