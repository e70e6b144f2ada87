// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Divide [heap] between malloc and the program.  A program may take memory by sbrk() before,
 * between and after malloc's: that memory is a root, malloc's is not.  glibc's malloc fills its
 * part with chunks, each with its size before it.  Where other code moved the break, malloc ends
 * the part with two chunks of 16 bytes, and continues behind.  The last chunk is the arena's
 * "top", whose address precedes the lists of free memory.
 *
 * The layout of other allocators is not known.  If their blocks lie in the heap, no part of it is
 * treated as the program's.
 */
#include <errno.h>
#include <stdlib.h>

#include "leaks/reach_int.h"

#define WORD		sizeof(__u64)
#define ALIGN		16ULL
#define HEAD		16ULL		/* of a chunk, before what malloc returns */
#define FENCE		16ULL		/* size of the chunks that end a piece */
#define FLAGS		7ULL
#define NOT_HERE	6ULL		/* flags of chunks that lie in mappings */
#define PIECE_WORDS	8192

struct heap {
	const struct reach_memory *m;
	const struct reach_block *blocks;	/* sorted */
	size_t nr;
	__u64 start, end;
	__u64 top;			/* address of the last chunk, 0: not in this heap */
	__u64 piece;			/* what was read last */
	size_t got;			/* words */
	__u64 words[PIECE_WORDS];
	__u64 steps;			/* that may still be done */
};

enum piece { BROKEN, ENDS_IN_FENCE, ENDS_IN_TOP };

static __u64 word_at(struct heap *h, __u64 addr)
{
	size_t len = sizeof(h->words);

	if (addr < h->piece || addr - h->piece >= h->got * WORD) {
		if (len > h->end - addr)
			len = h->end - addr;
		h->piece = addr;
		h->got = h->m->read(h->m->ctx, addr, h->words, len) / WORD;
		if (!h->got)
			return 0;
	}
	return h->words[(addr - h->piece) / WORD];
}

/* 0: there is none */
static __u64 chunk_size(struct heap *h, __u64 chunk)
{
	const __u64 size = h->end - chunk >= HEAD ? word_at(h, chunk + WORD) : 0;

	if (size & NOT_HERE || (size & ~FLAGS) % ALIGN || (size & ~FLAGS) > h->end - chunk)
		return 0;
	return size & ~FLAGS;
}

/*
 * From chunk to chunk, until malloc's memory ends, at *@end.  @through: a chunk that is
 * known to be one; who does not come through it is on a wrong way.
 */
static enum piece walk(struct heap *h, __u64 chunk, __u64 through, __u64 *end)
{
	while (h->steps) {
		const __u64 size = chunk_size(h, chunk);

		h->steps--;
		if (!size || (chunk < through && through - chunk < size))
			return BROKEN;
		*end = chunk + size;
		if (chunk == h->top)
			return ENDS_IN_TOP;
		if (size == FENCE) {
			*end += FENCE;
			return chunk_size(h, chunk + FENCE) == FENCE ? ENDS_IN_FENCE : BROKEN;
		}
		chunk += size;
	}
	return BROKEN;
}

static size_t block_from(const struct heap *h, __u64 addr)
{
	return reach_block_from(h->blocks, h->nr, addr);
}

/* Where malloc's first piece begins, or 0. */
static __u64 first_piece(struct heap *h, __u64 *end, enum piece *how)
{
	const size_t first = block_from(h, h->start);
	const bool any = first < h->nr && h->blocks[first].addr < h->end;
	const __u64 known = any ? h->blocks[first].addr - HEAD : h->top ? h->top : h->end;

	for (__u64 at = h->start; at <= known && at < h->end && h->steps; at += ALIGN) {
		*how = walk(h, at, any ? known : 0, end);
		if (*how != BROKEN)
			return at;
	}
	return 0;
}

/* And where the next one does: at the latest at the first block that is malloc's. */
static __u64 next_piece(struct heap *h, __u64 from, __u64 *end, enum piece *how)
{
	for (size_t i = block_from(h, from + HEAD); i < h->nr && h->blocks[i].addr < h->end; i++) {
		*how = walk(h, h->blocks[i].addr - HEAD, 0, end);
		if (*how != BROKEN)
			return h->blocks[i].addr - HEAD;
	}
	*how = h->top >= from ? walk(h, h->top, 0, end) : BROKEN;
	return *how == BROKEN ? 0 : h->top;
}

static int find_foreign(struct heap *h, struct ranges *foreign)
{
	__u64 from = h->start, begin, end = 0;
	enum piece how = BROKEN;
	int err;

	begin = first_piece(h, &end, &how);
	if (!begin)
		return 0;
	do {
		err = ranges_add(foreign, from, begin, false);
		from = end;
		if (err || how == ENDS_IN_TOP)
			break;
		begin = next_piece(h, from, &end, &how);
	} while (begin);
	return err ? err : ranges_add(foreign, from, h->end, false);
}

int heap_foreign(struct ranges *foreign, const struct area *a, __u64 top,
		 const struct reach_block *blocks, size_t nr, const struct reach_memory *m)
{
	struct heap *h = malloc(sizeof(*h));
	bool any;
	int err = 0;

	if (!h)
		return -ENOMEM;
	*h = (struct heap){ .m = m, .blocks = blocks, .nr = nr, .start = a->start,
			    .end = a->end, .steps = (a->end - a->start) / (ALIGN / 4) };
	h->top = top >= a->start && top < a->end ? top : 0;
	any = block_from(h, a->start) < block_from(h, a->end);
	if (!any && !h->top)		/* nobody allocates here */
		err = ranges_add(foreign, a->start, a->end, false);
	else if (top)
		err = find_foreign(h, foreign);
	free(h);
	return err;
}
