/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_FPPLAIN_H
#define _CORE_FPPLAIN_H

#include "fpwalk.h"

/*
 * Nearly all records of nearly all chains, where words can be had one by one.  Whoever
 * includes this says before how; between BEGIN and END nothing is called but GET:
 *
 * FPPLAIN_BEGIN()		may it be tried?
 * FPPLAIN_GET(w, v, at, away)	the word at @at, aligned and below the limit, goes to @v: 1;
 *				0 where it cannot be read, or it is at away already
 * FPPLAIN_END()
 */

/*
 * For struct fpwalk's plain(): follow the records while there is nothing to decide.
 * @notes: it has a trail.
 */
static __always_inline u32 fpplain(struct fpwalk *w, const int notes)
{
	const u64 codes = w->us.limit - USERSTACK_LEAST_CODE, highest = w->us.limit - 16;
	u64 least = (w->from + 7) & ~7ULL, next = w->at, at, room, ret;
	u64 *const end = w->ips + w->max;
	long out = (long)w->nr - w->max;	/* from the end */
	const long first = out;

	if (!FPPLAIN_BEGIN())
		return 0;
	while (out) {
		room = next - least;
		if (unlikely(room & USERSTACK_NOT_FAR))
			goto ended;
		/* also where that was guessed wrong */
		at = least + (room & ~USERSTACK_NOT_FAR);
		if (unlikely(at > highest))
			goto ended;
		if (!FPPLAIN_GET(w, ret, at + 8, away))
			goto away;
		if (unlikely(ret - USERSTACK_LEAST_CODE >= codes))
			goto away;
		if (!FPPLAIN_GET(w, next, at, away))
			goto away;
		end[out++] = ret;
		if (notes) {
			userstack_note(w->us.trail, at + 8, ret);
			userstack_note(w->us.trail, at, next);
		}
		least = at + 8;
	}
	goto ended;
away:
	/* the place is sound, what is there needs a closer look */
	next = at;
	least = at + 7;
ended:
	FPPLAIN_END();
	if (out == first)
		return 0;
	w->from = least - 7;
	w->at = next;
	w->nr = (u32)(w->max + out);
	return (u32)(out - first);
}

#endif
