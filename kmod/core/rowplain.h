/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_ROWPLAIN_H
#define _CORE_ROWPLAIN_H

#include "rowwalk.h"

/*
 * Nearly all frames of nearly all stacks: the rule was found before, the CFA is made from
 * rsp or rbp, and all that is saved lies close below it.
 *
 * Whoever includes this says before how the words of a stack are read.  Between BEGIN and
 * END nothing is called but these:
 *
 * ROWPLAIN_BEGIN(w)		may it be tried?
 * ROWPLAIN_FRAME(w, sp, cfa)	is there a frame?  Before its words are asked for
 * ROWPLAIN_GET(w, v, at, away)	the word at @at, aligned and below the limit, goes to @v: 1;
 *				0 where it cannot be read, or it is at away already
 * ROWPLAIN_END()
 */

#define ROWWALK_REG_BX	3	/* DWARF's numbers */
#define ROWWALK_REG_FP	6
#define ROWWALK_REG_SP	7

/* What @is of struct rowwalk_memo says of the rule.  The CFA is @cfa above one of them, */
#define ROWPLAIN_BY_SP	(1U << 0)
#define ROWPLAIN_BY_FP	(1U << 1)
/* and saved are, @fp and @bx from it, which are below 0: */
#define ROWPLAIN_FP	(1U << 2)
#define ROWPLAIN_BX	(1U << 3)
/* There is no caller. */
#define ROWPLAIN_LAST	(1U << 4)
/* As with frame pointers: 16 above rbp, which is saved there, and no more. */
#define ROWPLAIN_RECORD	(ROWPLAIN_BY_FP | ROWPLAIN_FP | 1U << 5)
#define ROWPLAIN_HOW	0xffU

/* @is of a rule that was found in the code of @id: one comparison tells both. */
#define ROWPLAIN_IS(id, how)	((id) << 8 | (how))

/* Of @ra: the rule is not plain. */
#define ROWPLAIN_OTHER	USERSTACK_HIGH_BIT

/* Nothing that is saved below a CFA has an address below 0. */
#define ROWPLAIN_LEAST_SP	(1ULL << 16)

/* Two addresses have a place together: the one that came last is first. */
static __always_inline size_t rowplain_place(u64 ra)
{
	return (size_t)((u32)ra * 0x9e3779b1U >> (32 - ROWWALK_MEMO_BITS)) * 2;
}

/* What rbp is here mattered. */
static inline void rowplain_note_fp(const struct rowwalk *w)
{
	if (!w->us.trail)
		return;
	if (w->fp_slot)
		userstack_note(w->us.trail, w->fp_slot, w->fp);
	else
		w->us.trail->uses_fp = 1;
}

/* No frame of the tail is met any more. */
static inline void rowplain_no_tail(struct rowwalk *w)
{
	w->near = &w->tail->at[STACKTAIL_FRAMES];
}

/* The walk is at a frame.  NULL: no room to tell. */
static __always_inline struct stacktail_frame *rowplain_put(struct rowwalk *w, u64 sp, u64 pc,
							    u64 fp)
{
	struct stacktail_frame *f = w->head->at;

	if (unlikely(w->head->nr == STACKTAIL_FRAMES)) {
		w->tail = NULL;
		return NULL;
	}
	f += w->head->nr++;
	f->sp = sp;
	f->pc = pc;
	f->fp = fp;
	f->word = (u16)w->us.trail->nr;
	f->how = 0;
	return f;
}

/* By a frame of which @how says all the walk came to @ra, found at @slot. */
static __always_inline void rowplain_note(const struct rowwalk *w, struct stacktail_frame *here,
					  u64 how, u64 fp, u64 fp_slot, u64 slot, u64 ra)
{
	if ((how & ROWPLAIN_BY_FP) && fp_slot)
		userstack_note(w->us.trail, fp_slot, fp);
	else if (how & ROWPLAIN_BY_FP)
		w->us.trail->uses_fp = 1;
	userstack_note(w->us.trail, slot, ra);
	if (here)
		here->how = (u16)((how & ROWPLAIN_BY_FP ? STACKTAIL_USES : 0) |
				  (how & ROWPLAIN_FP ? STACKTAIL_SAVED : 0));
}

/* What @m says of @ra in the code of @id; more than ROWPLAIN_HOW: nothing. */
static __always_inline u64 rowplain_how(const struct rowwalk_memo *m, u64 ra, u64 id)
{
	return m->ra == ra ? m->is ^ ROWPLAIN_IS(id, 0) : ~0ULL;
}

/*
 * For struct rowwalk's plain(), where rbp is known, no return is to be fixed, and rsp is
 * aligned, below the limit and not below ROWPLAIN_LEAST_SP.  @notes: it has a trail.
 *
 * The frame's registers are variables of their own: as members of something that is
 * handed from part to part they cost a sixth more.  @ra is where the caller goes on, what
 * rules are remembered by; it is no address of code only where there is none.
 */
static __always_inline int rowplain(struct rowwalk *w, const int notes)
{
	const struct stacktail_frame *near = notes && w->tail ? w->near : NULL;
	const u64 limit = w->us.limit, highest = limit - 8, id = w->memo_id;
	const struct rowwalk_memo *memo = w->memo, *m;
	u64 sp = w->sp, fp = w->fp, bx = w->bx, fp_slot = w->fp_slot;
	u64 ra = w->pc + 1, slot, room, above, saved;
	struct stacktail_frame *here = NULL;
	u64 *const end = w->ips + w->max;
	long out = (long)w->nr - w->max;	/* from the end */
	const long first = out;
	u32 known = w->known, last = 0;
	u64 how;

	if (!ROWPLAIN_BEGIN(w))
		return 0;
	while (out) {
		if (notes && near && w->max + out != 1) {
			while (near->sp < sp)
				near++;
			if (near->sp == sp && near->pc == ra - 1 &&
			    (!(near->how & STACKTAIL_LIVE) || near->fp == fp)) {
				ROWPLAIN_END();
				w->nr = w->max + out;
				w->fp = fp;
				w->fp_slot = fp_slot;
				if (rowwalk_join(w, near))
					return 1;
				near = w->near;
				if (!ROWPLAIN_BEGIN(w))
					goto ended;
			}
			here = rowplain_put(w, sp, ra - 1, fp);
			if (!here)
				near = NULL;
		}
		m = memo + rowplain_place(ra);
		how = rowplain_how(m, ra, id);
		if (likely(how == ROWPLAIN_RECORD)) {
record:
			room = fp + 8 - sp;
			if (unlikely(room & USERSTACK_NOT_FAR))
				break;
			/* also where that was guessed wrong */
			slot = sp + (room & ~USERSTACK_NOT_FAR);
			if (unlikely(slot > highest) || !ROWPLAIN_FRAME(w, sp, slot + 8))
				break;
			if (!ROWPLAIN_GET(w, ra, slot, record_away))
				goto record_away;
			if (!ROWPLAIN_GET(w, fp, slot - 8, record_away))
				goto record_away;
			if (notes) {
				rowplain_note(w, here, how, slot - 8, fp_slot, slot, ra);
				fp_slot = slot - 8;
			}
			goto on;
		}
		if (how > ROWPLAIN_HOW) {
			m++;
			how = rowplain_how(m, ra, id);
			if (unlikely(how > ROWPLAIN_HOW))
				break;
			if (how == ROWPLAIN_RECORD)
				goto record;
		}
		if (how & ROWPLAIN_BY_SP) {
			slot = sp + m->cfa - 8;
		} else if (how & ROWPLAIN_BY_FP) {
			room = fp + m->cfa - 8 - sp;
			if (unlikely(room & USERSTACK_NOT_FAR))
				break;
			slot = sp + (room & ~USERSTACK_NOT_FAR);
		} else {
			/* a tail is kept by who knows more */
			last = !notes;
			break;
		}
		if (unlikely(slot > highest) || !ROWPLAIN_FRAME(w, sp, slot + 8))
			break;
		if (!ROWPLAIN_GET(w, ra, slot, away))
			goto away;
		if (notes)
			rowplain_note(w, here, how, fp, fp_slot, slot, ra);
		/* all of a frame, or nothing: what is read last may be away */
		if (unlikely(how & ROWPLAIN_BX)) {
			if (!ROWPLAIN_GET(w, saved, slot + 8 + m->bx, away))
				goto away;
			if (how & ROWPLAIN_FP) {
				if (!ROWPLAIN_GET(w, above, slot + 8 + m->fp, away))
					goto away;
				fp = above;
			}
			bx = saved;
			known |= ROWWALK_KNOWN_BX;
		} else if (how & ROWPLAIN_FP) {
			if (!ROWPLAIN_GET(w, above, slot + 8 + m->fp, away))
				goto away;
			fp = above;
		}
		if (notes && (how & ROWPLAIN_FP))
			fp_slot = slot + 8 + m->fp;
on:
		sp = slot + 8;
		end[out++] = ra;
	}
	goto left;
record_away:
	fp = slot - 8;
away:
	ra = out == first ? w->pc + 1 : end[out - 1];
left:
	ROWPLAIN_END();
ended:
	if (near)
		w->near = near;
	if (out == first)
		return 0;
	w->nr = (u32)(w->max + out);
	if (unlikely(ra - USERSTACK_LEAST_CODE >= limit - USERSTACK_LEAST_CODE)) {
		w->nr--;
		w->flags |= ra ? MEMTAP_STACK_CHAIN : 0;
		return 1;
	}
	if (last && sp < limit)
		return 1;
	w->ip = ra;
	w->sp = sp;
	w->fp = fp;
	w->fp_slot = fp_slot;
	w->bx = bx;
	w->known = known;
	w->chained = 0;
	w->pc = ra - 1;
	return 0;
}

#endif
