/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_STACK_MEMO_H
#define _MEMTAP_STACK_MEMO_H

#include <linux/types.h>

#include "core/stacktail.h"
#include "core/userstack.h"
#include "compat/user_words.h"

struct memtap_session;

/*
 * The user stacks that a session took last on a CPU, each with all that it depended
 * on: whoever is found with the same words where it matters need not be walked a
 * second time.  Two or three instructions a word instead of fifty to a hundred a frame.
 */

#define STACK_MEMO_WORDS	40	/* that a stack has room for itself */
#define STACK_MEMO_FAR		(32U << 10)	/* none lies further above rsp */

/* A stack that was taken; see struct userstack_trail. */
struct memtap_known_stack {
	u64 sp, ip, ra, fp;
	u64 apart;			/* see struct memtap_stack_apart, when it was taken */
	u64 ranges;			/* of the code: see struct memtap_ranges */
	u32 space;			/* of the tasks; 0: not valid */
	u32 how;
	u32 id;
	u32 flags;			/* MEMTAP_STACK_* */
	u32 slot;			/* where it was counted last, or 0 */
	bool uses_fp;
	struct memtap_user_words words;	/* from sp: in own, or in a struct memtap_deep_words */
	u64 own[2 * STACK_MEMO_WORDS];
};

/* The words of a stack that depends on more. */
struct memtap_deep_words {
	struct memtap_known_stack *of;	/* which had it last, or NULL */
	u64 at[2 * USERSTACK_TRAIL];
};

#define STACK_MEMO_WAYS		8	/* stacks of a set */

/*
 * Looking for what is not there, and keeping what was walked, cost more than a walk; finding
 * saves most of one: who finds less than one in five stops looking, but for now and then.
 */
#define STACK_MEMO_CREDIT	256	/* at most, and to begin with */
#define STACK_MEMO_FOUND	4	/* is what finding one is worth */
#define STACK_MEMO_NOW_AND_THEN	256

/*
 * Many callers come to the same place with a stack that is as deep, as to mmap() below
 * malloc(): more than a set has room for.  Where several were compared in vain, a word in
 * which one of them differed is looked at first from then on, and leads to another set.
 */
#define STACK_MEMO_PLACES	64
#define STACK_MEMO_APART	3	/* words of a place */
#define STACK_MEMO_IN_VAIN	3

struct memtap_stack_apart {
	u32 tag;			/* which place; another one has words of its own */
	u16 off[STACK_MEMO_APART];	/* from the stack pointer, | 1; 0: none */
};

struct memtap_stack_memo {
	u32 next_way;			/* of a set that is overwritten next */
	u32 next_deep;			/* the same of @deep */
	u32 shift;			/* 64 - log2 of the sets */
	u32 credit, idle;
	struct memtap_known_stack *at;
	struct memtap_deep_words *deep;
	struct memtap_stack_apart apart[STACK_MEMO_PLACES];
};

/* Their bytes, for one CPU. */
u32 memtap_stack_memo_bytes(void);

/* @room: so many bytes, zeroed. */
void memtap_stack_memo_init(struct memtap_stack_memo *memo, void *room);

/* Is it worth to look? */
static inline bool memtap_stack_memo_pays(struct memtap_stack_memo *memo)
{
	return likely(memo->credit) || !(++memo->idle % STACK_MEMO_NOW_AND_THEN);
}

/*
 * Beside them, of some threads, the stack that each had last: what is not among the former
 * ones is walked to where it meets it.
 */
struct memtap_stack_tails {
	u32 credit, idle;		/* as above */
	struct stacktail_head head;	/* of the walk */
	struct stacktail at[];
};

/* Their bytes, for one CPU, too. */
u32 memtap_stack_tails_bytes(void);

void memtap_stack_tails_init(struct memtap_stack_tails *tails);

/*
 * That of the thread whose stack pointer this is, or of another one in its place; NULL: it
 * does not pay.  To be told how many frames were taken over, and how many walked.
 */
struct stacktail *memtap_stack_tail(struct memtap_stack_tails *tails, u64 sp);
void memtap_stack_tail_used(struct memtap_stack_tails *tails, u32 joined, u32 walked);

/* To walk a frame and keep that costs twice as much as the walk, to take one over a third. */
#define STACK_TAIL_PAYS		2	/* times as many frames as are walked */

/* What is known before the walk. */
struct memtap_stack_where {
	u64 sp, ip, ra, fp, place, apart, ranges;
	u32 space;
	u32 how;			/* which registers are known, and as of where */
};

#define STACK_MEMO_ENTRY	(1U << 31)	/* of @how, beside MEMTAP_UREGS_* */

/*
 * @w has the registers, and how; this adds the rest, of current.  False where nothing can
 * be remembered.  Only where current's memory is certain to be the one that is mapped: in
 * calls and faults of its own, not in any interrupt.
 */
bool memtap_stack_where(struct memtap_stack_where *w, struct memtap_session *s,
			const struct memtap_stack_memo *memo, u32 space);

/* The stack that was taken there, if it still is that; or NULL. */
struct memtap_known_stack *memtap_stack_find(struct memtap_stack_memo *memo,
					     const struct memtap_stack_where *w);

/* @id was taken there, with @flags, and depended on @t. */
void memtap_stack_keep(struct memtap_stack_memo *memo, const struct memtap_stack_where *w,
		       const struct userstack_trail *t, u32 id, u32 flags);

#endif
