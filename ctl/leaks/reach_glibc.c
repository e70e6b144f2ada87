// SPDX-License-Identifier: GPL-2.0-or-later
/* Find glibc's own data that could be mistaken for the program's; see reach.h. */
#include <stdlib.h>

#include "leaks/reach.h"

#define WORD		sizeof(__u64)
#define PIECE		(64UL << 10)
#define PAGE		4096UL
#define NR_LISTS	127
#define LIST		(2 * WORD)
#define LAST_LIST	((NR_LISTS - 1) * LIST)
#define BEFORE		128		/* bytes of the structure before the first list */
#define TO_TOP		16		/* bytes back from the first list */
#define LEAST_EMPTY	8		/* lists */
#define MOST_BAD	8		/* lists: one is just changed, or was written over */
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

struct lists {
	const struct reach_memory *m;
	__u64 start, last;		/* of the range; the last list, if it was found */
};

/* An empty list points twice to where it would begin, were it a chunk. */
static bool is_empty(__u64 list, const __u64 *pair)
{
	return pair[0] == list - 2 * WORD && pair[1] == pair[0];
}

/*
 * The last list is always empty.  Python's table of free pools has empty lists of the same form,
 * but fewer of them: therefore all lists before it are examined, too.  Since a few may be bad, one
 * of the lists before it may be taken for it; the last one that may be it is right.
 */
static bool see_last(__u64 addr, const __u64 *words, size_t nr, void *ctx)
{
	struct lists *l = ctx;
	const __u64 first = addr - LAST_LIST;
	__u64 pairs[2 * NR_LISTS];
	unsigned int empty = 0, bad = 0;

	if (l->last && addr - l->last > LAST_LIST)
		return true;
	if (nr < 2 || !is_empty(addr, words) || addr - l->start < LAST_LIST ||
	    l->m->read(l->m->ctx, first, pairs, sizeof(pairs)) != sizeof(pairs))
		return false;
	for (size_t i = 0; i < NR_LISTS; i++) {
		const __u64 *pair = pairs + 2 * i;

		if (is_empty(first + i * LIST, pair))
			empty++;
		else
			bad += !pair[0] || !pair[1] || pair[0] % LIST || pair[1] % LIST;
	}
	if (empty >= LEAST_EMPTY && bad <= MOST_BAD)
		l->last = addr;
	return false;
}

bool reach_find_bins(const struct reach_range *range, const struct reach_memory *m,
		     struct reach_range *bins, __u64 *top)
{
	struct lists l = { .m = m, .start = range->start };

	*top = 0;
	each_word(range, m, see_last, &l);
	if (!l.last)
		return false;
	*bins = (struct reach_range){ l.last - LAST_LIST - BEFORE, l.last + LIST, true };
	if (l.last - range->start < LAST_LIST + BEFORE)
		bins->start = range->start;
	if (l.last - range->start < LAST_LIST + TO_TOP ||
	    m->read(m->ctx, l.last - LAST_LIST - TO_TOP, top, WORD) != WORD)
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
