// SPDX-License-Identifier: GPL-2.0-only
/* Learn and look up the frame layout of kernel code addresses. */
#include "framerules.h"

#define MIX	0x9e3779b97f4a7c15ULL
#define WAYS	2
#define LEAST	0xffffffff80000000UL	/* all code is above */
#define UNKNOWN	0UL			/* of rbp, which is no address of a stack then */

/*
 * An entry: the address's lower half, the kind, a number of words, where rbp may be saved.  The
 * upper half is all ones, as of all code; whether it is the first of a walk stands in place of
 * its highest bit.
 */
#define KIND_SHIFT	29
#define WORDS_SHIFT	16
#define WORDS_MASK	0x1fffU

/*
 * The caller's rbp: bit 0: it was not touched; bit n: in the n-th word below the address that
 * is returned to.  One of these is true: where they do not say the same, it is not known.
 */
#define BP_SAME		1U
#define BP_PLACES	7
#define BP_MASK		0xffU

enum kind {
	BY_SP,			/* so many words */
	LIKE_FP,		/* as many, and rbp led to its end: or by that */
	BY_FP,			/* by that */
	END_KERNEL,		/* the last one, so many words above the lowest address */
	END_USER,		/* the same */
	NONE,			/* none that could be told */
};

static inline u64 entry_of(u32 key, enum kind kind, u32 words, u32 bp)
{
	return (u64)key << 32 | (u32)kind << KIND_SHIFT | words << WORDS_SHIFT | bp;
}

static inline enum kind kind_of(u64 e)
{
	return (enum kind)((u32)e >> KIND_SHIFT);
}

static inline u32 words_of(u64 e)
{
	return (u32)e >> WORDS_SHIFT & WORDS_MASK;
}

static inline u32 key_of(unsigned long ip, int first)
{
	return first ? (u32)ip & 0x7fffffffU : (u32)ip;
}

/* The first of its two places. */
static inline u32 place_of(u32 key)
{
	return (u32)((u64)key * MIX >> (64 - FRAMERULES_BITS)) & ~(WAYS - 1U);
}

/* 0: not known */
static inline u64 look(const struct framerules *r, u32 key)
{
	const u64 *at = &r->at[place_of(key)];
	u64 e = READ_ONCE(at[0]);

	if (likely((u32)(e >> 32) == key))
		return e;
	e = READ_ONCE(at[1]);
	return (u32)(e >> 32) == key ? e : 0;
}

/* --- learning ---------------------------------------------------------------- */

/* In place of @was, which is 0 where it is new. */
static void put(struct framerules *r, u64 was, u64 e)
{
	u64 *at = &r->at[place_of((u32)(e >> 32))];
	const u64 first = READ_ONCE(at[0]);

	if (was && (u32)(first >> 32) != (u32)(e >> 32)) {
		WRITE_ONCE(at[1], e);
		return;
	}
	/* the newest is looked at first */
	if (!was && first)
		WRITE_ONCE(at[1], first);
	WRITE_ONCE(at[0], e);
}

static u64 end_entry(u32 key, u64 was, const struct framerules_step *s, enum framerules_end end)
{
	const u64 e = entry_of(key, end == FRAMERULES_USER ? END_USER : END_KERNEL, s->sp / 8, 0);

	return !was || was == e ? e : entry_of(key, NONE, 0, 0);
}

static u32 bp_places(unsigned long base, const struct framerules_step *s)
{
	u32 places = s[0].bp == s[1].bp ? BP_SAME : 0, words = (s[1].sp - s[0].sp) / 8, i;

	for (i = 1; i <= BP_PLACES && i < words; i++)
		if (port_stack_word(base + s[1].sp - 8 * (i + 1)) == s[1].bp)
			places |= 1U << i;
	return places;
}

static u64 frame_entry(u32 key, u64 was, unsigned long base, const struct framerules_step *s)
{
	/* a frame pointer is where it was pushed, behind the return address */
	const int fp = s[0].bp == base + s[1].sp - 16;
	const u32 words = (s[1].sp - s[0].sp) / 8;
	enum kind kind = fp ? LIKE_FP : BY_SP;
	u32 places = bp_places(base, s);

	if (words > WORDS_MASK)
		return entry_of(key, NONE, 0, 0);
	if (was) {
		places &= (u32)was & BP_MASK;
		if (kind_of(was) == BY_FP ||
		    (kind_of(was) == LIKE_FP && words_of(was) != words))
			kind = fp ? BY_FP : NONE;
		else if (kind_of(was) > BY_FP || words_of(was) != words)
			kind = NONE;
		else if (kind_of(was) == BY_SP)
			kind = BY_SP;
	}
	return entry_of(key, kind, kind == NONE ? 0 : words, places);
}

void framerules_learn(struct framerules *r, unsigned long base,
		      const struct framerules_step *steps, u32 nr, enum framerules_end end)
{
	u64 was, e;
	u32 i, key;

	for (i = 0; i < nr && steps[i].ip >= LEAST; i++) {
		key = key_of(steps[i].ip, !i);
		was = look(r, key);
		if (i + 1 < nr)
			e = frame_entry(key, was, base, &steps[i]);
		else if (end != FRAMERULES_UNKNOWN)
			e = end_entry(key, was, &steps[i], end);
		else
			return;
		if (e != was)
			put(r, was, e);
	}
}

void framerules_clear(struct framerules *r)
{
	u32 i;

	for (i = 0; i < 1 << FRAMERULES_BITS; i++)
		WRITE_ONCE(r->at[i], 0);
}

/* --- walking ----------------------------------------------------------------- */

/* The caller's rbp, where the frame ends at @end. */
static __always_inline unsigned long caller_bp(u64 e, unsigned long end, unsigned long bp)
{
	u32 places = (u32)e & BP_MASK & ~BP_SAME;
	unsigned long is;

	if (!places)
		return e & BP_SAME ? bp : UNKNOWN;
	is = port_stack_word(end - 8 * (port_ctz(places) + 1));
	if ((e & BP_SAME) && is != bp)
		return UNKNOWN;
	while (unlikely(places &= places - 1))
		if (port_stack_word(end - 8 * (port_ctz(places) + 1)) != is)
			return UNKNOWN;
	return is;
}

u32 framerules_walk(const struct framerules *r, unsigned long base, u32 size,
		    const struct framerules_step *from, unsigned long *ips, u32 max, int *user)
{
	unsigned long *out = ips, *end = ips + max, ip = from->ip, bp = from->bp;
	unsigned long at = from->sp, by_fp;
	u64 e = look(r, key_of(ip, 1));

	*out = ip;
	while (e && kind_of(e) <= BY_FP) {
		if (kind_of(e) == BY_SP) {
			at += words_of(e) * 8;
		} else {
			by_fp = bp - base + 16;
			if (by_fp <= at || (by_fp & 7) ||
			    (kind_of(e) == LIKE_FP && by_fp != at + words_of(e) * 8))
				return 0;
			at = by_fp;
		}
		if (at > size || ++out == end)
			return 0;
		bp = caller_bp(e, base + at, bp);
		ip = port_stack_word(base + at - 8);
		if (ip < LEAST)
			return 0;
		*out = ip;
		e = look(r, (u32)ip);
	}
	if (!e || kind_of(e) == NONE || words_of(e) * 8 != at)
		return 0;
	*user = kind_of(e) == END_USER;
	return (u32)(out - ips) + 1;
}
