/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_ROWWALK_H
#define _CORE_ROWWALK_H

#include "stacktail.h"
#include "userstack.h"

struct unwindtab;

/*
 * Walk of an x86-64 user stack by rows.
 *
 * Each frame's address leads to a range of code, that to a row, and the row's
 * rule to the caller's frame.  Where no rule says how to go on, and rbp does not
 * lead to a frame's record either, the walk ends, with the reason in flags.
 */

/* A range of code that is mapped in one piece from one file. */
struct rowwalk_code {
	u64 start, len;
	u64 pos;			/* in the file, of start */
	const struct unwindtab *table;	/* NULL: this code keeps frame pointers */
};

/*
 * Which code is at @ip?  Returns 0, or why that is not known: MEMTAP_STACK_NOMAP
 * or MEMTAP_STACK_NOTABLE.
 */
typedef u32 (*rowwalk_find_fn)(void *ctx, u64 ip, struct rowwalk_code *code);

/*
 * Which rule was found for which address: most of the search is for addresses
 * that were just searched for.  @id tells when that was the same code: whoever
 * changes what find() says gives it another one, for good.  0: not valid.
 */
struct rowwalk_memo {
	u64 ra;				/* address + 1, and perhaps ROWPLAIN_OTHER */
	u64 is;				/* ROWPLAIN_IS() */
	const struct memtap_rule *rule;
	u32 cfa;			/* the rule, if it is plain: see rowplain.h */
	s16 fp, bx;
};

#define ROWWALK_MEMO_BITS	8
#define ROWWALK_MEMO		(2U << ROWWALK_MEMO_BITS)	/* pairs */

/* Another register of the innermost frame, by DWARF's number.  0: got it. */
typedef int (*rowwalk_reg_fn)(void *ctx, u32 reg, u64 *v);

/* Does an instruction that calls end at @ip?  0 where that cannot be read, too. */
typedef int (*rowwalk_calls_fn)(void *ctx, u64 ip);

/*
 * Does `mov $NUMBER,%eax` and then `syscall` end at @ip?  How many bytes they are; 0: there is
 * something else, or it cannot be read.
 */
typedef u32 (*rowwalk_enters_fn)(void *ctx, u64 ip);

#define ROWWALK_CALL	7	/* bytes of the longest one */
#define ROWWALK_ENTERS	7

/* call rel32, or call through a register or memory: 2 to 7 bytes, FF /2 */
static inline int rowwalk_ends_in_call(const u8 *end, u32 nr)
{
	u32 len;

	if (nr >= 5 && end[-5] == 0xe8)
		return 1;
	for (len = 2; len <= ROWWALK_CALL && len <= nr; len++)
		if (*(end - len) == 0xff && (*(end - len + 1) >> 3 & 7) == 2)
			return 1;
	return 0;
}

static inline int rowwalk_is_enter(const u8 code[ROWWALK_ENTERS])
{
	return code[0] == 0xb8 && code[5] == 0x0f && code[6] == 0x05;
}

/*
 * How many of @nr words are what they were, before the first that is not, or cannot be
 * read?  All slots are multiples of 8 below the walk's limit.
 */
typedef u32 (*rowwalk_same_fn)(void *ctx, const struct stacktail_word *words, u32 nr);

struct rowwalk;

/*
 * The walk is at the frame of @pc: go on while frames are plain (rowplain.h), and leave
 * the others.  1: all is done.
 */
typedef int (*rowwalk_plain_fn)(struct rowwalk *w);

struct rowwalk {
	u64 ip, sp, fp, bx;		/* registers of the innermost frame */
	u32 known;			/* ROWWALK_KNOWN_* */
	u32 entry;			/* at a function's first instruction: of use
					 * where no rule is for it */
	u32 max;			/* room in ips */
	u64 *ips;			/* out: ip, callers */
	u32 nr;				/* out */
	u32 flags;			/* out: MEMTAP_STACK_DEPTH, FAULT, CHAIN,
					 * TRAMPOLINE, NOMAP, NOTABLE, NOROW: one of
					 * them, or none: whole; MEMTAP_STACK_FP */
	rowwalk_find_fn find;
	rowwalk_reg_fn reg;		/* NULL: only those above are known */
	rowwalk_plain_fn plain;		/* NULL: words are had by us.read alone */
	rowwalk_calls_fn calls;		/* NULL: nothing is followed through gaps */
	rowwalk_enters_fn enters;	/* NULL: no system call is, either */
	struct userstack us;		/* in: read, fix, ctx, limit, buf */
	u64 pc;				/* in the code of the frame where the walk is */
	struct rowwalk_code code;	/* where the last frame was */
	u32 chained;			/* fp was read from a frame record */
	u64 fp_slot;			/* where it was read, 0: it is the innermost's */
	struct rowwalk_memo *memo;	/* ROWWALK_MEMO of them */
	u64 memo_id;			/* 0: do not use it */
	struct stacktail *tail;		/* of this thread, or NULL; needs us.trail, memo_id */
	struct stacktail_head *head;	/* room for the walk, where there is a tail */
	rowwalk_same_fn same;		/* the same */
	const struct stacktail_frame *near;	/* of the tail: the first not below sp */
	u32 joined;			/* out: frames that were not walked */
};

#define ROWWALK_REG_AX	0	/* DWARF's number: asked of @reg */

#define ROWWALK_KNOWN_FP	(1U << 0)
#define ROWWALK_KNOWN_BX	(1U << 1)

/*
 * Fills @ips; ips[0] is @ip itself, the others are return addresses; after a
 * signal's frame, the interrupted address + 1.  The stack pointer grows with
 * each frame, by no more than USERSTACK_MAX_FRAME, but where a signal was
 * handled on another stack, or a rule says that the caller is on one.  It ends
 * well at an END rule, at a return address that is 0, and at a frame pointer that
 * is 0 in a chain of them.
 */
void rowwalk(struct rowwalk *w);

/* The walk is at @f, a frame of the tail.  1: all that follows is the same, and put. */
int rowwalk_join(struct rowwalk *w, const struct stacktail_frame *f);

#endif
