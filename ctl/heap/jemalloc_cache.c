// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find blocks that jemalloc keeps for threads (tcache): the bitmaps call them allocated.  A thread
 * has an array of records, one for each size class, among its thread-local variables.  The records
 * lead to stacks of blocks, which lie one behind the other in one allocation of jemalloc: by that
 * an array is recognized.  A block counts as cached only if it has the size of its stack.
 */
#include <string.h>

#include "heap/jemalloc_int.h"

#define RECORD		3		/* words of one, in all versions */
#define LEAST		32U		/* records that follow each other; there are 36 at least */
#define MOST		80U
#define MOST_CACHED	8191U		/* blocks of a size */
#define LARGE_GAP	64U		/* words between small and large records, at most */
#define MAX_CACHED	(32ULL << 10)	/* the largest block that is cached unless configured */

struct bins {
	struct je *j;
	const __u64 *words;
	size_t nr;			/* words that there are */
	size_t blocks, wrong;
	__u64 stack;			/* an address in the stacks */
};

static __u64 low(__u64 word)
{
	return word & 0xffff;
}

/*
 * 5.3: top of the stack, requests, and the lower 16 bits of: the lowest top, where it is full,
 * and where it is empty.  The next stack begins where this one is empty.
 */
static bool is_new_bin(const __u64 *r, __u64 *first, __u64 *end)
{
	const __u64 full = low(r[2] >> 16), empty = low(r[2] >> 32);
	const __u64 len = low(empty - full), cached = low(empty - r[0]);

	if (!r[0] || r[0] % WORD || r[0] >> 47 || full % WORD || empty % WORD || !len ||
	    cached > len)
		return false;
	*end = r[0] + cached;
	*first = *end - len;
	return true;
}

/*
 * Before: least that there were and blocks, 32 bits each; requests; where the stack ends.  The next
 * one ends as much behind it as it may have, which is even for small blocks.
 */
static bool is_old_bin(const __u64 *r, __u64 *end)
{
	const __s32 least = (__s32)r[0], cached = (__s32)(r[0] >> 32);

	if (cached < 0 || cached > (__s32)MOST_CACHED || least < -1 || least > cached || !r[2] ||
	    r[2] % WORD || r[2] >> 47)
		return false;
	*end = r[2];
	return true;
}

static size_t count_new(const __u64 *words, size_t nr)
{
	__u64 first, end, last = 0;
	size_t n = 0;

	for (; n < MOST && (n + 1) * RECORD <= nr; n++) {
		if (!is_new_bin(words + n * RECORD, &first, &end) || (n && first != last))
			break;
		last = end;
	}
	return n;
}

static size_t count_old(const __u64 *words, size_t nr, __u64 *last)
{
	__u64 end;
	size_t n = 0;

	for (; n < MOST && (n + 1) * RECORD <= nr; n++) {
		const __u64 *r = words + n * RECORD;

		if (!is_old_bin(r, &end))
			break;
		if (*last && (end <= *last || (end - *last) % (2 * WORD) ||
			      end - *last > MOST_CACHED * WORD ||
			      (r[0] >> 32) * WORD > end - *last))
			break;
		*last = end;
	}
	return n;
}

/* Of @nr blocks from @at on; @settle: they count as cached. */
static void take_stack(struct bins *b, __u64 at, size_t nr, unsigned int class, bool settle)
{
	const __u64 size = je_class_size(&b->j->layout, class);
	__u64 block;

	for (size_t i = 0; i < nr && i <= MOST_CACHED; i++) {
		struct heap_chunk *c = NULL;

		if (word_at(b->j->w, at + i * WORD, &block))
			c = heap_find(b->j->h, block - HEAP_HEAD);
		if (!c || c->size != size || c->tail != HEAP_NO_TAIL || c->state != HEAP_USED) {
			b->wrong++;
			continue;
		}
		b->blocks++;
		if (settle)
			c->state = HEAP_CACHED;
	}
}

static void take_new(struct bins *b, size_t nr, bool settle)
{
	for (size_t n = 0; n < nr; n++) {
		const __u64 *r = b->words + n * RECORD;
		const __u64 empty = low(r[2] >> 32);

		take_stack(b, r[0], (size_t)(low(empty - r[0]) / WORD), (unsigned int)n, settle);
	}
	b->stack = b->words[0];
}

static void take_old(struct bins *b, size_t nr, unsigned int class, bool settle)
{
	for (size_t n = 0; n < nr; n++) {
		const __u64 *r = b->words + n * RECORD;
		const __u64 cached = r[0] >> 32;

		take_stack(b, r[2] - cached * WORD, (size_t)cached, class + (unsigned int)n,
			   settle);
	}
	b->stack = b->words[2] - WORD;
}

/* Those of large blocks follow later, where the last stack of small ones ends. */
static size_t large_ones(const struct bins *b, size_t small, __u64 last, size_t *at)
{
	for (size_t i = small * RECORD; i < small * RECORD + LARGE_GAP && i < b->nr; i++) {
		__u64 end = last;
		const size_t n = count_old(b->words + i, b->nr - i, &end);

		if (n) {
			*at = i;
			return n;
		}
	}
	return 0;
}

/* The stacks' memory leads to blocks that are not there any more. */
static void own_stack(struct je *j, __u64 addr)
{
	struct heap_chunk *c = heap_block_of(j->h, addr);

	if (c && c->state == HEAP_USED && c->tail == HEAP_NO_TAIL)
		c->state = HEAP_OWN;
}

/* Does an array of records begin here?  Twice: it is looked at, and then it counts. */
static bool take(struct je *j, const __u64 *words, size_t nr)
{
	const bool is_new = j->layout.state_bits == 3;
	struct bins b = { .j = j, .words = words, .nr = nr };
	__u64 last = 0;
	const size_t n = is_new ? count_new(words, nr) : count_old(words, nr, &last);
	size_t large = 0, at = 0;

	if (n < LEAST)
		return false;
	if (!is_new)
		large = large_ones(&b, n, last, &at);
	for (int settle = 0; settle < 2; settle++) {
		if (settle && b.wrong > 1 + b.blocks / 16)
			return false;
		b.words = words;
		if (is_new)
			take_new(&b, n, settle);
		else
			take_old(&b, n, 0, settle);
		b.words = words + at;
		if (large)
			take_old(&b, large, (unsigned int)n, settle);
	}
	own_stack(j, b.stack);
	j->h->other_caches++;
	return true;
}

#define AHEAD		(MOST * RECORD + LARGE_GAP + MOST * RECORD)

static void look_through(struct je *j, __u64 from, __u64 limit)
{
	static const size_t page_words = PAGE / WORD;
	__u64 words[PAGE / WORD + AHEAD];
	__u64 taken = 0;

	for (__u64 page = words_next(j->w, from, limit) & ~(PAGE - 1); page < limit;
	     page = words_page(j->w, page + PAGE, limit)) {
		size_t nr = page_words + AHEAD;

		if (limit - page < sizeof(words) || !words_at(j->w, page, words, sizeof(words))) {
			nr = page_words;
			if (!words_at(j->w, page, words, PAGE))
				continue;
			while (nr < page_words + AHEAD && page + nr * WORD < limit &&
			       word_at(j->w, page + nr * WORD, &words[nr]))
				nr++;
		}
		for (size_t i = 0; i < page_words && i + LEAST * RECORD <= nr; i++) {
			const __u64 at = page + i * WORD;

			if (at >= from && at >= taken && (words[i] || words[i + 2]) &&
			    take(j, words + i, nr - i))
				taken = at + LEAST * RECORD * WORD;
		}
	}
}

static int look_beside(void *ctx, __u64 start, __u64 end)
{
	look_through(ctx, start, end);
	return 0;
}

/* Thread-local variables are beside the heap. */
int je_caches(struct je *j)
{
	j->h->cache_most = MAX_CACHED;
	return heap_each_beside(j->h, j->areas, j->nr_areas, false, look_beside, j);
}
