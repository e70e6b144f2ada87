/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _REACH_H
#define _REACH_H

#include <stdbool.h>
#include <stddef.h>

#include "uapi/memtap.h"

/*
 * Classify live blocks by reachability, as Memcheck does: every word that looks like an address is
 * treated as a pointer.  A block is still reachable if a pointer chain to its beginning starts in
 * data, a stack or thread-local memory; possibly lost if only a pointer into its inside exists;
 * indirectly lost if only another lost block points to it; else definitely lost.
 *
 * This code does not access processes: memory is read through a callback.
 */
enum reach_class {
	REACH_UNKNOWN,			/* nobody looked */
	REACH_DEFINITE = MEMTAP_REACH_DEFINITE,
	REACH_INDIRECT = MEMTAP_REACH_INDIRECT,
	REACH_POSSIBLE = MEMTAP_REACH_POSSIBLE,
	REACH_REACHABLE = MEMTAP_REACH_REACHABLE,
	NR_REACH
};

struct reach_block {
	__u64 addr, size;
	__u8 class;		/* out */
	bool is_root;		/* a mapping: the caller has it among the roots, and any
				 * address in it is one of its own */
	bool queued;		/* for reach_scan() */
	__u16 loose;		/* it begins anywhere in so many bytes; 0: at .addr */
};

/* For qsort(): by address. */
static inline int reach_block_cmp(const void *a, const void *b)
{
	const struct reach_block *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* The first of @nr sorted blocks that begins at @addr or above, as an index; @nr: none. */
static inline size_t reach_block_from(const struct reach_block *blocks, size_t nr, __u64 addr)
{
	size_t low = 0, high = nr;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (blocks[middle].addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct reach_range {
	__u64 start, end;
	bool starts_only;	/* addresses that point into blocks say nothing */
};

enum reach_kind { REACH_OTHER, REACH_DATA, REACH_CODE };

struct reach_memory {
	/* Bytes from @addr on; how many could be read, 0: none of this page. */
	size_t (*read)(void *ctx, __u64 addr, void *buf, size_t len);
	/* Data and code of a program or library; the rest is OTHER.  May be NULL. */
	enum reach_kind (*kind)(void *ctx, __u64 addr);
	void *ctx;
	bool chunks;	/* sizes are of what malloc gave, not of what was asked for */
	/* The first address of [@addr, @end) that can be read, or @end.  May be NULL. */
	__u64 (*next)(void *ctx, __u64 addr, __u64 end);
	bool tagged;	/* the upper 16 bits may say something else: possibly lost, if no more leads
			 * there.  Memcheck does not think of it */
};

/*
 * Find the class of each block.  Blocks are sorted by address afterwards and must
 * not overlap.  Takes 8 to 12 bytes a block, beside the block.  -ENOMEM.
 */
int reach_scan(struct reach_block *blocks, size_t nr, const struct reach_range *roots,
	       size_t nr_roots, const struct reach_memory *m);

/*
 * The lists of free memory of glibc's malloc, which lie among the data of libc or
 * of a static program: they point into blocks, because what precedes a free chunk
 * overlaps its header.  False: there are none in @range.  *@top: where its last chunk
 * begins, or 0.
 */
bool reach_find_bins(const struct reach_range *range, const struct reach_memory *m,
		     struct reach_range *bins, __u64 *top);

/* Where a thread's own block of a static program begins that lies in @range, or 0. */
__u64 reach_find_thread(const struct reach_range *range, const struct reach_memory *m);

/*
 * The stack of the thread whose own block begins at @thread, which is at its end: glibc keeps
 * where it begins and how long it is in there, whoever mapped it.
 */
bool reach_find_stack(__u64 thread, const struct reach_memory *m, struct reach_range *stack);

#endif
