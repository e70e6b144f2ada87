/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_FPWALK_H
#define _CORE_FPWALK_H

#include "port.h"

/*
 * Walk of a user stack by frame pointers.
 *
 * The stack is read in pieces through a callback that cannot fault, and walked
 * inside the piece: fewer reads than frames.  All sanity checks are here; a
 * frame is either vouched for by the chain or the walk ends with a reason.
 */

#define FPWALK_CHUNK	256	/* bytes read at once */

/*
 * Read @len bytes of user memory at @addr, which does not cross a page.
 * Returns 0, or non-zero if it is not there.
 */
typedef int (*fpwalk_read_fn)(void *ctx, u64 addr, void *buf, u32 len);

/*
 * A return address was found in the stack slot at @slot: the place to replace
 * a return trampoline.  Returns the true address, or 0 if it is a trampoline
 * whose address is not known (the walk goes on, FPWALK_TRAMPOLINE is set).
 * NULL: nothing to replace.
 */
typedef u64 (*fpwalk_fix_fn)(void *ctx, u64 slot, u64 ip);

#define FPWALK_DEPTH		(1U << 0)	/* more than max frames */
#define FPWALK_FAULT		(1U << 1)	/* unreadable */
#define FPWALK_CHAIN		(1U << 2)	/* the chain leads nowhere */
#define FPWALK_TRAMPOLINE	(1U << 3)

struct fpwalk {
	u64 ip, sp, fp;		/* registers; 32-bit tasks: the low halves */
	u64 limit;		/* user addresses are below */
	u32 word;		/* 8, or 4 for a 32-bit task */
	u32 entry;		/* at a function's first instruction: the caller
				 * is at *sp, its frame pointer still in fp */
	u32 max;		/* room in ips */
	u64 *ips;		/* out: ip, callers */
	u32 nr;			/* out */
	u32 flags;		/* out: FPWALK_* */
	fpwalk_read_fn read;
	fpwalk_fix_fn fix;
	void *ctx;
	u64 buf_addr;		/* the piece that is in buf */
	u32 buf_len;
	u8 *buf;		/* FPWALK_CHUNK bytes, 8-aligned */
};

/*
 * Fills @ips; ips[0] is @ip itself.  A chain is sound while every frame pointer
 * is aligned, above the previous one and not below sp, below the limit, and no
 * more than FPWALK_MAX_FRAME above the last.  It ends well where the frame
 * pointer or the return address in a record is 0; in the register, 0 is what
 * code without frame pointers left there, and ends it with FPWALK_CHAIN.  A
 * return address below 4096 or not below the limit ends it so, too.
 */
#define FPWALK_MAX_FRAME	(16ULL << 20)
void fpwalk(struct fpwalk *w);

#endif
