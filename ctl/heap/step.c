// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walk from chunk to chunk.  A chunk's size precedes it.  The lowest bit of the next chunk's size
 * says whether the chunk is in use.  If it is free, its size is also stored at its end.  The last
 * chunk is the arena's top: the walk must arrive there, and the top must end where the piece ends.
 */
#include <string.h>

#include "heap/int.h"

bool walk_head_at(const struct walk *k, __u64 at, __u64 head[2])
{
	return at <= k->end && k->end - at >= HEAP_HEAD && words_at(k->w, at, head, HEAP_HEAD);
}

bool walk_is_size(const struct walk *k, __u64 at, __u64 size)
{
	const __u64 len = size & ~FLAGS;

	if (size & IS_MAPPED || (!k->of_others && size & OF_OTHERS))
		return false;
	return len % ALIGN == 0 && len >= FENCE && len <= k->end - at;
}

/* A chunk whose successor's head is @next: known to be in use, or free. */
static enum ending take(struct walk *k, __u64 at, __u64 len, const __u64 next[2], bool after_free)
{
	struct heap_chunk c = { .at = at, .size = len, .arena = k->arena, .state = HEAP_USED };

	if (len < SMALLEST)
		return BROKEN;
	if (!(next[1] & IN_USE_BEFORE)) {
		/* two free ones would be one */
		if (next[0] != len || after_free)
			return BROKEN;
		c.state = HEAP_FREE;
	}
	return heap_add(k->h, &c) ? NO_MEMORY : AT_FENCE;
}

/*
 * What ends a piece: in the main arena two chunks of 16 bytes, in another one a chunk of no
 * size, with one before it that nobody has.
 */
bool walk_is_end(const struct walk *k, __u64 at, __u64 len, const __u64 next[2])
{
	if (!k->of_others)
		return len == FENCE && (next[1] & ~FLAGS) == FENCE;
	return (next[1] & ~FLAGS) == 0 && at + len + FENCE == k->end && len <= SMALLEST;
}

/* *@to: where it ended */
static enum ending walk(struct walk *k, __u64 at, __u64 *to)
{
	__u64 head[2], next[2], len;
	bool after_free = false;
	enum ending e;

	if (!walk_head_at(k, at, head) || !(head[1] & IN_USE_BEFORE))
		return BROKEN;
	for (;;) {
		len = head[1] & ~FLAGS;
		if (!walk_is_size(k, at, head[1]))
			return BROKEN;
		if (at == k->top) {
			k->top_size = len;
			*to = at + len;
			return after_free ? BROKEN : AT_THE_TOP;
		}
		if (k->top > at && k->top - at < len)	/* it would have to pass it */
			return BROKEN;
		if (!walk_head_at(k, at + len, next))
			return BROKEN;
		if (walk_is_end(k, at, len, next)) {
			k->heads += len + FENCE;
			*to = at + len + FENCE;
			return AT_FENCE;
		}
		e = take(k, at, len, next, after_free);
		if (e != AT_FENCE)
			return e;
		after_free = !(next[1] & IN_USE_BEFORE);
		at += len;
		memcpy(head, next, sizeof(head));
	}
}

enum ending walk_try(struct walk *k, __u64 at, __u64 *to)
{
	const size_t nr = k->h->nr_chunks;
	const __u64 heads = k->heads;
	const enum ending e = walk(k, at, to);

	if (e == BROKEN) {
		k->in_vain += k->h->nr_chunks - nr;
		k->h->nr_chunks = nr;
		k->heads = heads;
	}
	return e;
}

__u64 walk_has(const struct heap *h, const struct heap_arena *a, size_t first)
{
	__u64 bytes = a->top + a->heads + a->foreign;

	for (size_t i = first; i < h->nr_chunks; i++)
		bytes += h->chunks[i].size;
	return bytes;
}
