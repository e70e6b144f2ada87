// SPDX-License-Identifier: GPL-2.0-or-later
/* Mark the blocks that can be reached; see reach.h. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr_index.h"
#include "leaks/reach.h"

#define WORD		sizeof(__u64)
#define TAGGED_MASK	((1ULL << 48) - 1)
#define PIECE		(64UL << 10)
#define PAGE		4096UL
#define DTV_ENTRY	16
#define DLFO_ALIGN	64		/* or more */
#define DLFO_LINE	128		/* that ld.so allows for */
#define DLFO_ENTRY	(3 * WORD)	/* or more */
#define SMALLEST_CHUNK	(3 * WORD)	/* of glibc's malloc: what can be used of it */
#define MOST_COOKIE	(8 * WORD)	/* before the elements of new T[n] */

struct scan {
	struct reach_block *blocks;
	size_t nr;
	const struct reach_memory *m;
	struct addr_index index;
	__u64 low, high;		/* all blocks are there */
	__u32 *queue;
	size_t queued;
	__u64 *piece;
	/* whose contents are looked at, and what that makes of what they point to */
	const struct reach_block *from;	/* NULL: a root */
	const struct reach_block *leader;	/* while lost blocks are sorted out */
	bool starts_only;
};

static void enqueue(struct scan *s, struct reach_block *b)
{
	if (b->queued || b->is_root)
		return;
	b->queued = true;
	s->queue[s->queued++] = (__u32)(b - s->blocks);
}

/* The block with @addr in it, or NULL.  One of no bytes has its own address in it. */
static struct reach_block *find_block(const struct scan *s, __u64 addr)
{
	const __u32 i = addr_index_find(&s->index, addr);
	struct reach_block *b = i == ADDR_INDEX_NONE ? NULL : &s->blocks[i];

	return b && addr - b->addr < (b->size ? b->size : 1) ? b : NULL;
}

/* ---- addresses into blocks that are as good as those of their beginnings ---- */

static bool read_word(const struct scan *s, __u64 addr, __u64 *v)
{
	return s->m->read(s->m->ctx, addr, v, sizeof(*v)) == sizeof(*v);
}

/* A table of functions, as C++ objects begin with its address. */
static bool is_vtable(const struct scan *s, __u64 addr)
{
	__u64 fn;

	if (addr % WORD || s->m->kind(s->m->ctx, addr) != REACH_DATA)
		return false;
	for (__u64 i = 0; i < 4; i++)
		if (read_word(s, addr + i * WORD, &fn) &&
		    s->m->kind(s->m->ctx, fn) == REACH_CODE)
			return true;
	return false;
}

/*
 * Memcheck's four: new T[n] keeps n before the first element, sqlite and others
 * the size before what they hand out, old std::string its head before the text,
 * and an object's second base class has a table of functions of its own.
 */
static bool is_as_good(const struct scan *s, const struct reach_block *b, __u64 p)
{
	const __u64 at = p - b->addr;
	__u64 first, second;

	if (at % WORD || at + WORD > b->size || !read_word(s, b->addr, &first))
		return false;
	if (at == WORD && first && (b->size - WORD) % first == 0)
		return true;
	if (at == WORD && !first && s->m->chunks && b->size <= SMALLEST_CHUNK)
		return true;
	if (at == 3 * WORD && read_word(s, b->addr + WORD, &second) &&
	    first <= second && second == b->size - 3 * WORD - 1)
		return true;
	return s->m->kind && is_vtable(s, first) && read_word(s, p, &second) &&
	       is_vtable(s, second);
}

/*
 * ld.so (glibc 2.35 and later) keeps where code lies in blocks that it uses from the next
 * cache line on, and knows by that address.  There stand: the block before, where malloc's
 * begins, entries that are used, and that there is room for.
 */
static bool is_find_object(const struct scan *s, const struct reach_block *b, __u64 p)
{
	const __u64 at = p - b->addr;
	__u64 head[4];

	if (p % DLFO_ALIGN || at >= DLFO_LINE || at + sizeof(head) > b->size ||
	    s->m->read(s->m->ctx, p, head, sizeof(head)) != sizeof(head))
		return false;
	return head[1] == b->addr && head[0] % (2 * WORD) == 0 && head[3] &&
	       head[2] <= head[3] && head[3] <= (b->size - at - sizeof(head)) / DLFO_ENTRY;
}

/*
 * new T[0] of what has a destructor: all of the block is the number of its elements, behind
 * what their alignment asks for, and its address is that of the block's end.
 */
static struct reach_block *find_empty_array(const struct scan *s, __u64 p)
{
	struct reach_block *b;
	__u64 elements;

	if (p % WORD)
		return NULL;
	b = find_block(s, p - 1);
	if (!b || b->is_root || b->addr + b->size != p || b->size < WORD ||
	    b->size > MOST_COOKIE || (b->size & (b->size - 1)) || p % b->size)
		return NULL;
	return read_word(s, p - WORD, &elements) && !elements ? b : NULL;
}

/* ---- what an address makes of the block it points to ---- */

static bool is_begin(const struct reach_block *b, __u64 p)
{
	return p == b->addr || p - b->addr < b->loose;
}

static void mark(struct scan *s, struct reach_block *b, __u64 p)
{
	const bool sure = !s->from || s->from->class == REACH_REACHABLE;
	bool whole;

	if (b->class == REACH_REACHABLE || b == s->from)
		return;
	if (!is_begin(b, p) && s->starts_only)
		return;
	whole = is_begin(b, p) || is_as_good(s, b, p) || is_find_object(s, b, p);
	if (b->is_root || (sure && whole))
		b->class = REACH_REACHABLE;
	else if (b->class != REACH_POSSIBLE)
		b->class = REACH_POSSIBLE;
	else
		return;
	enqueue(s, b);
}

/* A lost block that leads to others answers for them. */
static void mark_lost(struct scan *s, struct reach_block *b)
{
	if (b == s->leader)
		return;
	if (b->class == REACH_UNKNOWN)
		enqueue(s, b);
	if (b->class == REACH_UNKNOWN || b->class == REACH_DEFINITE)
		b->class = REACH_INDIRECT;
}

/*
 * glibc's block of a thread: its own address, its dtv's, its own again.  A dtv is
 * known by its second entry.
 */
static bool is_dtv(const __u64 *words, size_t nr, size_t i, __u64 addr)
{
	const __u64 thread = addr + (i - 1) * WORD;

	return i && i + 1 < nr && words[i - 1] == thread && words[i + 1] == thread;
}

/* An address with something in its upper bits, of a beginning. */
static void look_at_tagged(struct scan *s, __u64 word)
{
	const __u64 addr = word & TAGGED_MASK;
	struct reach_block *b;

	if (word == addr || s->leader || addr - s->low >= s->high - s->low)
		return;
	b = find_block(s, addr);
	if (!b || b->addr != addr || b->class != REACH_UNKNOWN || b == s->from)
		return;
	b->class = REACH_POSSIBLE;
	enqueue(s, b);
}

static void look_at(struct scan *s, const __u64 *words, size_t nr, __u64 addr)
{
	const __u64 low = s->low, span = s->high - low;
	struct reach_block *b;

	for (size_t i = 0; i < nr; i++) {
		__u64 word = words[i];

		if (word - low > span) {
			if (s->m->tagged)
				look_at_tagged(s, word);
			continue;
		}
		b = find_block(s, word);
		if (!b) {
			b = find_empty_array(s, word);
			word = b ? b->addr : 0;
		}
		if (!b)
			continue;
		/* a mapping's own words do not keep it */
		if (b->is_root && addr + i * WORD - b->addr < b->size)
			continue;
		if (s->leader)
			mark_lost(s, b);
		else if (word == b->addr + DTV_ENTRY && is_dtv(words, nr, i, addr))
			mark(s, b, b->addr);
		else
			mark(s, b, word);
	}
}

static void scan_range(struct scan *s, __u64 start, __u64 end)
{
	size_t got, len;

	start = (start + WORD - 1) & ~(WORD - 1);
	end &= ~(WORD - 1);
	while (start < end) {
		len = end - start < PIECE ? end - start : PIECE;
		got = s->m->read(s->m->ctx, start, s->piece, len) & ~(WORD - 1);
		look_at(s, s->piece, got / WORD, start);
		start = got ? start + got : (start | (PAGE - 1)) + 1;
		if (!got && s->m->next && start < end)
			start = s->m->next(s->m->ctx, start, end);
	}
}

static void follow(struct scan *s)
{
	while (s->queued) {
		struct reach_block *b = &s->blocks[s->queue[--s->queued]];

		b->queued = false;
		s->from = b;
		scan_range(s, b->addr, b->addr + b->size);
	}
	s->from = NULL;
}

static void scan_roots(struct scan *s, const struct reach_range *roots, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		s->starts_only = roots[i].starts_only;
		scan_range(s, roots[i].start, roots[i].end);
	}
	s->starts_only = false;
	follow(s);
}

/* In order of addresses; a leader that a later one leads to is none. */
static void sort_out_lost(struct scan *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		if (s->blocks[i].class != REACH_UNKNOWN)
			continue;
		s->blocks[i].class = REACH_DEFINITE;
		s->leader = &s->blocks[i];
		enqueue(s, &s->blocks[i]);
		follow(s);
	}
	s->leader = NULL;
}

int reach_scan(struct reach_block *blocks, size_t nr, const struct reach_range *roots,
	       size_t nr_roots, const struct reach_memory *m)
{
	struct scan s = { .blocks = blocks, .nr = nr, .m = m };
	int err = -ENOMEM;

	if (!nr)
		return 0;
	if (nr >= UINT32_MAX)
		return -E2BIG;
	qsort(blocks, nr, sizeof(*blocks), reach_block_cmp);
	for (size_t i = 0; i < nr; i++) {
		blocks[i].class = REACH_UNKNOWN;
		blocks[i].queued = false;
	}
	s.queue = malloc(nr * sizeof(*s.queue));
	s.piece = malloc(PIECE);
	s.low = blocks[0].addr;
	s.high = blocks[nr - 1].addr + (blocks[nr - 1].size ? blocks[nr - 1].size : 1);
	if (s.queue && s.piece && !addr_index_make(&s.index, blocks, nr, sizeof(*blocks))) {
		scan_roots(&s, roots, nr_roots);
		sort_out_lost(&s);
		addr_index_free(&s.index);
		err = 0;
	}
	free(s.queue);
	free(s.piece);
	return err;
}
