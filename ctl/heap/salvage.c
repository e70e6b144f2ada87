// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read arenas whose chunks do not add up.  A word was overwritten, a page cannot be read, or the
 * program changes the arena during the walk.  A piece is read one window at a time, and a window
 * holds many chunks.  If two chunks do not fit together, the walk continues at the next ones that
 * do, and reports the bytes between as a gap.
 */
#include <errno.h>

#include "heap/int.h"

#define TRIES		(1UL << 23)	/* places where chunks may go on */
#define IN_STEP		8		/* chunks that fit together: that is no chance */

static const char broken[] = "its chunks are inconsistent";
static const char unread[] = "one of its segments has no valid header";

struct salvage {
	struct walk k;
	__u64 top_word;			/* where the arena has its top */
	__u64 from;			/* what was walked since there is a piece */
	__u64 unknown;			/* bytes that were passed over */
	bool at_top;
};

static bool word_now(const struct walk *k, __u64 addr, __u64 *to)
{
	return k->w->m->read(k->w->m->ctx, addr, to, sizeof(*to)) == sizeof(*to);
}

/* The top is where it is now; what was read before is not. */
static bool look_again(struct salvage *s)
{
	s->k.w->got = 0;
	return word_now(&s->k, s->top_word, &s->k.top);
}

/* Bytes of the chunk that begins here, as what follows says, too; 0: none does. */
static __u64 step(const struct walk *k, __u64 at, bool *is_free)
{
	__u64 head[2], next[2], len;

	if (!walk_head_at(k, at, head) || !walk_is_size(k, at, head[1]))
		return 0;
	len = head[1] & ~FLAGS;
	if (len < SMALLEST || !walk_head_at(k, at + len, next))
		return 0;
	*is_free = !(next[1] & IN_USE_BEFORE);
	return *is_free && next[0] != len ? 0 : len;
}

static bool in_step(const struct walk *k, __u64 at)
{
	bool is_free;
	__u64 len;

	for (int i = 0; i < IN_STEP && at != k->top; i++, at += len) {
		len = step(k, at, &is_free);
		if (!len)
			return false;
	}
	return true;
}

/* Chunks do not go on at @at; where do they? */
static int pass_over(struct salvage *s, __u64 *at)
{
	const struct walk *k = &s->k;
	const __u64 from = *at;
	const char *why = words_why(k->w, from, NULL);
	__u64 next;
	size_t tries = 0;

	if (heap_add_piece(k->h, k->arena, s->from, from))
		return -ENOMEM;
	do {
		*at += ALIGN;
		next = words_next(k->w, *at, k->end);
		if (next != *at) {		/* it begins with a page */
			if (!why)
				why = words_why(k->w, *at, NULL);
			*at = next & ~(ALIGN - 1);
			tries = 0;
		}
	} while (*at < k->end && *at != k->top && tries++ < TRIES && !in_step(k, *at));
	if (tries >= TRIES)
		*at = k->end;
	s->from = *at;
	s->unknown += *at - from;
	return heap_add_gap(k->h, k->arena, from, *at, why ? why : broken);
}

/* Is this the end of a piece of the main arena's, whose next one is further on? */
static bool is_fence(const struct walk *k, __u64 at)
{
	__u64 head[2], next[2];

	return !k->of_others && walk_head_at(k, at, head) && (head[1] & ~FLAGS) == FENCE &&
	       walk_head_at(k, at + FENCE, next) && walk_is_end(k, at, FENCE, next);
}

static int take(struct walk *k, __u64 at, __u64 len, bool is_free)
{
	return heap_add(k->h, &(struct heap_chunk){ .at = at, .size = len, .arena = k->arena,
						    .state = is_free ? HEAP_FREE : HEAP_USED });
}

/* One piece, from its first chunk on: to the top, if that is in it, or its end. */
static int pass_through(struct salvage *s, __u64 at)
{
	struct walk *k = &s->k;
	bool is_free, again = !k->w->m->passing;
	__u64 size, len;
	int err = 0;

	while (!err && k->end - at > SMALLEST + FENCE) {
		if (at == k->top) {
			/* (of one that goes on, it may have grown beyond what was mapped) */
			if (look_again(s) && at == k->top && word_now(k, at + WORD, &size) &&
			    (k->w->m->passing || walk_is_size(k, at, size))) {
				k->top_size = size & ~FLAGS;
				s->at_top = true;
				return heap_add_piece(k->h, k->arena, s->from, k->end);
			}
			again = true;
		}
		len = step(k, at, &is_free);
		if (len) {
			err = take(k, at, len, is_free);
			at += len;
			again = !k->w->m->passing;
		} else if (is_fence(k, at)) {
			k->heads += 2 * FENCE;
			at += 2 * FENCE;
			if (k->end - at > SMALLEST + FENCE)
				err = pass_over(s, &at);
		} else if (!again) {
			again = look_again(s);
			if (!again)
				return heap_add_piece(k->h, k->arena, s->from, at);
		} else {
			err = pass_over(s, &at);
			again = !k->w->m->passing;
		}
	}
	if (err)
		return err;
	if (at < k->end)
		k->heads += k->end - at;
	return s->from < k->end ? heap_add_piece(k->h, k->arena, s->from, k->end) : 0;
}

/* ---- pieces ---- */

static bool has(const struct heap_area *a, __u64 addr)
{
	return addr >= a->start && addr < a->end;
}

static int pass_main(struct salvage *s, struct heap_arena *a, struct heap_place *place,
		     const struct heap_spans *spans)
{
	const struct heap_area *in = NULL;
	__u64 at;

	for (size_t i = 0; i < spans->nr && !in; i++)
		if (has(&spans->at[i], s->k.top))
			in = &spans->at[i];
	/* it may have grown beyond where it ended before */
	for (size_t i = 0; i < spans->nr && !in && !a->libc; i++)
		if (spans->at[i].brk)
			in = &spans->at[i];
	if (!in)
		return 0;
	a->why = NULL;
	a->pieces = 1;
	s->k.end = in->end;
	if (in->brk && !place->base)
		place->base = in->start;
	at = (in->start + ALIGN - 1) & ~(ALIGN - 1);
	s->from = at;
	return pass_through(s, at);
}

/* From @first on; a circle is none of malloc's. */
static bool has_piece(const struct heap *h, size_t first, __u64 start, __u64 end)
{
	for (size_t i = first; i < h->nr_pieces; i++)
		if (h->pieces[i].start < end && h->pieces[i].end > start)
			return true;
	return false;
}

static int pass_other(struct salvage *s, struct heap_arena *a)
{
	const __u64 first = a->at & ~(PAGE - 1), info = a->at - first;
	const size_t pieces = s->k.h->nr_pieces;
	struct heap_head head;
	__u64 base = arena_piece(s->k.w, a->at, s->k.top, &head);
	int err = 0;

	while (!err && base && words_at(s->k.w, base, &head, sizeof(head)) &&
	       arena_is_head(&head, a->at, base) &&
	       !has_piece(s->k.h, pieces, base, base + head.len)) {
		const __u64 begin = base == first ? arena_chunks(a) : base + info;

		a->why = NULL;
		s->k.end = base + head.len;
		s->k.heads += begin - base;
		s->from = base;
		a->pieces++;
		if (begin < s->k.end)
			err = pass_through(s, begin);
		base = base == first ? 0 : head.before;
	}
	return err;
}

int salvage(struct heap *h, size_t nr, struct heap_place *place, const struct heap_spans *spans,
	    struct heap_words *w)
{
	struct heap_arena *a = &h->arenas[nr];
	const __u64 lists = a->at + a->lists;
	const size_t chunks = h->nr_chunks;
	struct salvage s = { .k = { .h = h, .w = w, .arena = nr, .of_others = a->number != 0 },
			     .top_word = lists + AT_TOP };
	__u64 known;
	int err;

	a->pieces = 0;
	a->foreign = 0;
	a->top = a->heads = 0;
	if (!look_again(&s)) {
		a->why = words_why(w, lists, unread);
		a->unknown = a->system;
		return 0;
	}
	a->top_at = s.k.top;
	err = a->number ? pass_other(&s, a) : pass_main(&s, a, place, spans);
	if (err || a->why) {
		a->unknown = a->system;
		return err;
	}
	a->changed = w->m->passing;
	a->top = s.k.top_size;
	a->top_at = s.at_top ? s.k.top : 0;
	a->heads = s.k.heads;
	a->unknown = s.unknown;
	word_now(&s.k, lists + AT_SYSTEM, &a->system);
	known = walk_has(h, a, chunks) + a->unknown;
	if (a->system > known) {
		a->unknown += a->system - known;
	} else if (known - a->system <= a->unknown) {
		/* what others took by sbrk() is among it */
		a->unknown -= known - a->system;
	}
	a->changed |= !a->unknown;
	return 0;
}
