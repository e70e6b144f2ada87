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
 * For struct fpwalk's plain(): from the sound record at *@fp on, follow the records while
 * there is nothing to decide.  @notes: it has a trail.
 */
static __always_inline u32 fpplain(struct fpwalk *w, u64 *from, u64 *fp, const int notes)
{
	u64 *first = w->ips + w->nr, *out = first, *end = w->ips + w->max;
	u64 next = *fp, least = *from, last = w->us.limit - 16, ret, above;
	u64 codes = w->us.limit - USERSTACK_LEAST_CODE;

	if (!FPPLAIN_BEGIN())
		return 0;
	while (next - least <= USERSTACK_MAX_FRAME && !(next & 7) && next <= last) {
		/* also where that was guessed wrong: it is whatever a program has there */
		next &= ~USERSTACK_HIGH_BIT;
		if (!FPPLAIN_GET(w, above, next, away))
			goto away;
		if (!FPPLAIN_GET(w, ret, next + 8, away))
			goto away;
		if (unlikely(ret - USERSTACK_LEAST_CODE >= codes) || out == end)
			break;
		*out++ = ret;
		if (notes) {
			userstack_note(w->us.trail, next + 8, ret);
			userstack_note(w->us.trail, next, above);
		}
		least = next + 1;
		next = above;
	}
away:
	FPPLAIN_END();
	*from = least;
	*fp = next;
	w->nr = out - w->ips;
	return (u32)(out - first);
}

#endif
