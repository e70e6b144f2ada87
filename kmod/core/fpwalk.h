/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_FPWALK_H
#define _CORE_FPWALK_H

#include "userstack.h"

/*
 * Walk of a user stack by frame pointers.
 *
 * The stack is read in pieces through a callback that cannot fault, and walked
 * inside the piece: fewer reads than frames.  All sanity checks are here; a
 * frame is either vouched for by the chain or the walk ends with a reason.
 */

struct fpwalk;

/*
 * The chain has come to the record @at, not below @from: go on while there is nothing to
 * decide (fpplain.h).  How many return addresses were put; 0: look closer.
 */
typedef u32 (*fpwalk_plain_fn)(struct fpwalk *w);

struct fpwalk {
	u64 ip, sp, fp;		/* registers; 32-bit tasks: the low halves */
	u32 word;		/* 8, or 4 for a 32-bit task */
	u32 entry;		/* at a function's first instruction: the caller
				 * is at *sp, its frame pointer still in fp */
	u32 max;		/* room in ips */
	u64 *ips;		/* out: ip, callers */
	u32 nr;			/* out */
	u32 flags;		/* out: MEMTAP_STACK_DEPTH, FAULT, CHAIN, TRAMPOLINE */
	u64 at, from;		/* of plain() */
	fpwalk_plain_fn plain;	/* NULL: words are had by us.read alone; of 8 bytes */
	struct userstack us;	/* in: read, fix, ctx, limit, buf */
};

/*
 * Fills @ips; ips[0] is @ip itself.  A chain is sound while every frame pointer
 * is aligned, above the previous one and not below sp, below the limit, and no
 * more than USERSTACK_MAX_FRAME above the last.  It ends well where the frame
 * pointer or the return address in a record is 0; in the register, 0 is what
 * code without frame pointers left there, and ends it with MEMTAP_STACK_CHAIN.  A
 * return address below 4096 or not below the limit ends it so, too.
 */
void fpwalk(struct fpwalk *w);

#endif
