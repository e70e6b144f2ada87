/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_KERNEL_MEMO_H
#define _MEMTAP_KERNEL_MEMO_H

#include <linux/types.h>

#include "compat/kernel_walk.h"

/*
 * The kernel stacks that a session took last on a CPU, each with all that its walk depended
 * on (struct memtap_kernel_trail): whoever is found with the same words in the same places
 * of its own stack need not be walked.  An address costs six instructions instead of some two
 * hundred.  Stacks of interrupts and exceptions are walked each time.  For kernels that go by
 * frame pointers; by ORC tables frames are looked up: kernel_rules.h.
 */
struct memtap_known_kernel {
	u64 ip;				/* who called the handler, */
	u32 sp, fp;			/* and where in its stack; fp if TRAIL_FP */
	u64 apart;
	u32 code;			/* memtap_kernel_code */
	u32 id;				/* 0: not valid */
	u32 flags;			/* MEMTAP_STACK_* */
	u32 slot;			/* where it was counted last, or 0 */
	u16 nr, nr_links;
	u32 trail;			/* MEMTAP_TRAIL_* */
	struct memtap_kernel_word words[MEMTAP_TRAIL];
};

#define KERNEL_MEMO_WAYS	4	/* stacks of a set */
#define KERNEL_MEMO_CREDIT	256	/* as of stack_memo.h */
#define KERNEL_MEMO_FOUND	4
#define KERNEL_MEMO_NOW_AND_THEN 32
#define KERNEL_MEMO_PLACES	64	/* as there: words that tell those of a place apart */
#define KERNEL_MEMO_APART	3
#define KERNEL_MEMO_IN_VAIN	2

struct memtap_kernel_apart {
	u32 tag;			/* which place; another one has words of its own */
	u16 off[KERNEL_MEMO_APART];	/* offsets | 1; 0: none */
};

struct memtap_kernel_memo {
	u32 next_way, shift;
	u32 credit, idle;
	struct memtap_known_kernel *at;	/* or NULL */
	struct memtap_kernel_apart apart[KERNEL_MEMO_PLACES];
};

/* What is known before the walk. */
struct memtap_kernel_where {
	u64 ip, place, apart;
	unsigned long base;		/* of the stack; 0: nothing can be remembered */
	u32 sp, fp, code;
};

/* How many stacks there is room for on each CPU, a power of two, at least 2 sets. */
u32 memtap_kernel_memo_room(void);

/* @at: so many; or NULL, and nothing is remembered. */
void memtap_kernel_memo_init(struct memtap_kernel_memo *memo, struct memtap_known_kernel *at);

/*
 * Where the handler whose frame this is was called.  False where nothing can be remembered,
 * or it does not pay.  @site: what tells stacks of one place apart, or 0.
 */
bool memtap_kernel_where(struct memtap_kernel_where *w, struct memtap_kernel_memo *memo,
			 const unsigned long *frame, u64 site);

/* The stack that was taken there, if it still is that; or NULL. */
struct memtap_known_kernel *memtap_kernel_find(struct memtap_kernel_memo *memo,
					       const struct memtap_kernel_where *w);

/* @id was taken there, with @flags, and depended on @t. */
void memtap_kernel_keep(struct memtap_kernel_memo *memo, const struct memtap_kernel_where *w,
			const struct memtap_kernel_trail *t, u32 id, u32 flags);

#endif
