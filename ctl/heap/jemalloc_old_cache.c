// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find blocks that jemalloc 3.6 to 4.5 keeps for threads; see jemalloc_old.c.  Each arena has a
 * ring of the caches of its threads.  A cache is a block of jemalloc's: a record for each size, and
 * behind them the stacks to which the records lead, one behind the other.
 */
#include "heap/jemalloc_old_int.h"

#define RECORD		(4 * WORD)
#define MOST_RECORDS	512U
#define MOST_CACHES	(1U << 16)
#define MAX_CACHED	(32ULL << 10)	/* the largest block that is cached unless configured */

static const char bad_caches[] = "its list of threads' caches is inconsistent";
static const char bad_stack[] = "a list of free blocks in a cache is inconsistent";

/* False: no such block was ever there.  (What a thread is just freeing is free already.) */
static bool take_block(struct jo *j, __u64 block, size_t class)
{
	struct heap_chunk *c = heap_block_of(j->h, block);
	const __u64 into = c ? block - c->at - HEAP_HEAD : 0;

	if (!c || (c->tail != HEAP_NO_TAIL && c->tail != HEAP_LOOSE_TAIL) ||
	    (c->tail == HEAP_LOOSE_TAIL ? into >= PAGE : into != 0) ||
	    (class < j->nr_classes && c->size != j->classes[class].size))
		return c && c->state == HEAP_FREE;
	if (c->state == HEAP_USED)
		c->state = HEAP_CACHED;
	return true;
}

/* @room: where it ends. */
static bool take_cache(struct jo *j, __u64 at, __u64 room)
{
	__u64 words[4], block, stack, last = 0;
	bool good = true;
	size_t n = 0;

	for (; n < MOST_RECORDS; n++) {
		const __u64 record = at + j->l->cache_bins + n * RECORD;
		__u64 cached;

		if (record + RECORD > room || !words_at(j->w, record, words, sizeof(words)))
			break;
		cached = (__u32)words[2] * WORD;
		stack = j->l->down ? words[3] - cached : words[3];
		if (words[3] % WORD || words[3] < record || stack < record + RECORD ||
		    stack < last || words[3] > room || stack + cached > room)
			break;
		for (__u64 i = 0; i < cached; i += WORD)
			good &= word_at(j->w, stack + i, &block) && take_block(j, block, n);
		last = stack + cached;
	}
	if (!good)
		heap_miss(j->h, bad_stack, at);
	return n >= j->nr_classes;
}

/* Up to 3.6 a cache names its arena. */
static bool is_cache(struct jo *j, const struct jo_arena *a, const __u64 *words)
{
	return !j->l->bins || words[3] == a->at;
}

static void take_caches(struct jo *j, const struct jo_arena *a)
{
	__u64 first = 0, at, words[4];
	unsigned int n = 0;

	if (!word_at(j->w, a->at + j->l->caches, &first))
		heap_miss(j->h, bad_caches, a->at);
	for (at = first; at && (at != first || !n); at = words[0], n++) {
		struct heap_chunk *c = at % WORD ? NULL : heap_block_of(j->h, at);

		/* (a thread that is just freeing it has taken it out of the ring) */
		if (!c || c->state != HEAP_USED || n == MOST_CACHES ||
		    !words_at(j->w, at, words, sizeof(words)) || !is_cache(j, a, words) ||
		    !take_cache(j, at, c->at + HEAP_HEAD + heap_span(c))) {
			heap_miss(j->h, bad_caches, at);
			return;
		}
		c->state = HEAP_OWN;
		j->h->other_caches++;
	}
}

/* What describes a large extent leads to it. */
static void own_nodes(struct jo *j)
{
	struct heap_chunk *c;

	for (size_t i = 0; i < j->nr_extents; i++) {
		c = heap_block_of(j->h, j->extents[i].node);
		if (c && c->state == HEAP_USED && c->tail == HEAP_NO_TAIL)
			c->state = HEAP_OWN;
	}
}

void jo_caches(struct jo *j)
{
	j->h->cache_most = MAX_CACHED;
	own_nodes(j);
	for (size_t i = 0; i < j->nr_arenas; i++)
		take_caches(j, &j->arenas[i]);
}
