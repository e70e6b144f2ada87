/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_STACKTAIL_H
#define _CORE_STACKTAIL_H

#include "port.h"
#include "userstack.h"

/*
 * Stacks of one thread share all but their innermost frames.  The tail is the stack that
 * was walked last: where a walk comes to a frame of it, and the words that led on from
 * there are still the same, all further frames are.  Comparing a word costs a tenth of
 * walking a frame.
 *
 * Frames and words are kept at the arrays' ends, the outermost last, so that a new head is
 * put before what stays.
 */
#define STACKTAIL_FRAMES	128
#define STACKTAIL_WORDS		USERSTACK_TRAIL

#define STACKTAIL_USES		1U	/* the step from here needs the frame pointer, */
#define STACKTAIL_SAVED		2U	/* finds its caller's on the stack, */
#define STACKTAIL_LIVE		4U	/* and this or a further one needs that of here */

/* The walk was here, and what it did next depended on no more than this says. */
struct stacktail_frame {
	u64 sp, fp;
	u64 pc;				/* in the code that called; + 1: what is reported */
	u16 word;			/* the first word that is read from here on */
	u16 how;			/* STACKTAIL_* */
};

/* The word at @slot was @value. */
struct stacktail_word {
	u64 slot, value;
};

struct stacktail {
	u64 id;				/* of the code, as that of struct rowwalk; 0: empty */
	u64 limit;			/* the walk's */
	u32 first;			/* of @at in use */
	struct stacktail_frame at[STACKTAIL_FRAMES + 1];	/* the last has the highest sp */
	struct stacktail_word words[STACKTAIL_WORDS];
};

/* Of a walk that is under way. */
struct stacktail_head {
	u32 nr;
	struct stacktail_frame at[STACKTAIL_FRAMES];	/* @word: in the trail */
};

/* All zeroes is an empty one, but for this. */
static inline void stacktail_init(struct stacktail *t)
{
	t->id = 0;
	t->at[STACKTAIL_FRAMES].sp = ~0ULL;
}

/*
 * @h were the frames before @from, which is a frame of @t, or behind its last one, and
 * @trail has their words: they are the first ones of @t now.  Where there is no room,
 * @t stays as it is.
 */
void stacktail_put(struct stacktail *t, const struct stacktail_head *h,
		   const struct userstack_trail *trail, const struct stacktail_frame *from);

#endif
