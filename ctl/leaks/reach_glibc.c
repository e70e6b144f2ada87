// SPDX-License-Identifier: GPL-2.0-or-later
/* Find glibc's own data that could be mistaken for the program's; see reach.h. */
#include <stdlib.h>

#include "leaks/reach.h"

#define WORD		sizeof(__u64)
#define PIECE		(64UL << 10)
#define PAGE		4096UL
#define BINS		2048		/* bytes of the lists, and more */
#define BEFORE		128		/* of the structure before them */
#define LEAST_EMPTY	8		/* lists of 127 */
#define LAST_TO_TOP	2032		/* bytes back from the last list, always empty */
#define THREAD_SELF	2		/* word of a thread's block with its own address */
#define THREAD_WORDS	256		/* of it, among which its stack's place is */
#define THREAD_TO_END	8192UL		/* bytes from it to the end of the stack, and more */

/* Call @fn for each word but the last of @range, until it returns true. */
static bool each_word(const struct reach_range *range, const struct reach_memory *m,
		      bool (*fn)(__u64 addr, const __u64 *words, size_t nr, void *ctx),
		      void *ctx)
{
	__u64 *piece = malloc(PIECE), addr = range->start;
	bool done = false;
	size_t len, got;

	while (piece && !done && addr + 4 * WORD <= range->end) {
		len = range->end - addr < PIECE ? range->end - addr : PIECE;
		got = m->read(m->ctx, addr, piece, len) / WORD;
		for (size_t i = 0; !done && i + 3 < got; i++)
			done = fn(addr + i * WORD, piece + i, got - i, ctx);
		/* what begins at the end of a piece is seen in the next one */
		addr = got > 3 ? addr + (got - 3) * WORD : (addr | (PAGE - 1)) + 1;
		if (got <= 3 && m->next && addr < range->end)
			addr = m->next(m->ctx, addr, range->end);
	}
	free(piece);
	return done;
}

struct bins {
	__u64 first, last;
	unsigned int empty;
};

/* An empty list points twice to where it would begin, were it a chunk. */
static bool see_bin(__u64 addr, const __u64 *words, size_t nr, void *ctx)
{
	struct bins *b = ctx;

	if (nr < 2 || words[0] != addr - 2 * WORD || words[1] != words[0])
		return false;
	if (b->empty && addr - b->first > BINS) {
		if (b->empty >= LEAST_EMPTY)
			return true;
		b->empty = 0;
	}
	if (!b->empty++)
		b->first = addr;
	b->last = addr;
	return false;
}

bool reach_find_bins(const struct reach_range *range, const struct reach_memory *m,
		     struct reach_range *bins, __u64 *top)
{
	struct bins b = { 0 };

	each_word(range, m, see_bin, &b);
	if (b.empty < LEAST_EMPTY)
		return false;
	*bins = (struct reach_range){ b.last - BINS - BEFORE, b.first + BINS + BEFORE, true };
	if (bins->start < range->start)
		bins->start = range->start;
	if (bins->end > range->end)
		bins->end = range->end;
	*top = 0;
	if (b.last - range->start < LAST_TO_TOP ||
	    m->read(m->ctx, b.last - LAST_TO_TOP, top, WORD) != WORD)
		*top = 0;
	return true;
}

static bool see_thread(__u64 addr, const __u64 *words, size_t nr, void *ctx)
{
	if (nr <= THREAD_SELF || words[0] != addr || words[THREAD_SELF] != addr)
		return false;
	*(__u64 *)ctx = addr;
	return true;
}

__u64 reach_find_thread(const struct reach_range *range, const struct reach_memory *m)
{
	__u64 thread = 0;

	each_word(range, m, see_thread, &thread);
	return thread;
}

bool reach_find_stack(__u64 thread, const struct reach_memory *m, struct reach_range *stack)
{
	__u64 words[THREAD_WORDS];
	const size_t nr = m->read(m->ctx, thread, words, sizeof(words)) / WORD;

	for (size_t i = 0; i + 1 < nr; i++) {
		const __u64 end = words[i] + words[i + 1];

		/* (no stack is so large that its length could be the address) */
		if (words[i] < thread && words[i + 1] < words[i] && end > thread &&
		    end - thread <= THREAD_TO_END) {
			*stack = (struct reach_range){ words[i], end, false };
			return true;
		}
	}
	return false;
}
