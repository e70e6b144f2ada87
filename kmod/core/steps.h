/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_STEPS_H
#define _CORE_STEPS_H

#include "port.h"
#include "uapi.h"

/*
 * How the arguments of an event are had, and whether it passes: struct memtap_step of
 * the contract.  What is here checks a list of steps, which may come from anybody, and
 * packs what it found; core/steps_run.h does the steps.
 */
#define STEPS_FUNCTION	(1U << 0)	/* there are registers: ARG, REG */
#define STEPS_RETURN	(1U << 1)	/* entry and return */
#define STEPS_RECORD	(1U << 2)	/* there is a record: of a tracepoint, a built-in
					 * event */
#define STEPS_KERNEL	(1U << 3)	/* the kernel's memory may be read */
#define STEPS_VALUE	(1U << 4)	/* the event has a value of its own */
#define STEPS_PAIR	(1U << 5)	/* begin and end, each with its record */
#define STEPS_LATE	(STEPS_RETURN | STEPS_PAIR)	/* there is a second time */

#define STEPS_TEXT	(MEMTAP_MAX_TEXT + 1)

struct steps {
	u32 nr;
	u32 nr_entry;			/* done at the entry, of a RETURN, or a PAIR's begin */
	u32 nr_shown;
	u32 value_slot, by_slot;	/* 1 + the slot; 0: none */
	u32 by_mask;			/* without by_slot: slots, or 0 */
	u32 text_max;			/* bytes of a string; 0: MEMTAP_MAX_TEXT */
	u32 value_unit;			/* MEMTAP_UNIT_* */
	u32 texts_len;
	/* by steps_check(): */
	u32 kept;			/* slots that have something at the end, */
	u32 kept_entry;			/* and behind the entry; masks */
	u32 text;			/* of them: strings */
	u32 is_signed;			/* of them: numbers with a sign */
	u32 only_latency;		/* all that is done is to take that for the value */
	struct memtap_step at[MEMTAP_MAX_STEPS];
	char texts[MEMTAP_MAX_TEXTS];
};

/*
 * Is this a list of steps that can be done, where there is what @can says?  All but what
 * steps_check() itself fills in has been.  Returns 1 or 0.
 */
int steps_check(struct steps *s, u32 can);

/* What is in the slots. */
struct steps_values {
	u32 known;			/* mask of slots */
	u32 used;			/* bytes of @texts */
	u64 number[MEMTAP_MAX_SLOTS];
	u16 len[MEMTAP_MAX_SLOTS];	/* of the strings, without the 0 that follows */
	u16 at[MEMTAP_MAX_SLOTS];	/* where they begin */
	char texts[MEMTAP_ALL_TEXT];
};

static inline void steps_clear(struct steps_values *v)
{
	v->known = 0;
	v->used = 0;
}

/* The string of a slot that has one; it ends with 0. */
static inline const char *steps_text(const struct steps_values *v, u32 slot)
{
	return v->texts + v->at[slot];
}

static inline u32 steps_text_max(const struct steps *s)
{
	return s->text_max ? s->text_max : MEMTAP_MAX_TEXT;
}

/* Another string of @len bytes, for the slot: 1, or 0: no room. */
int steps_set_text(struct steps_values *v, u32 slot, const char *text, u32 len);

/*
 * The slots of @mask behind each other: a number takes 8 bytes; a string one or two bytes with
 * its length, itself, and what is missing to a multiple of 8; what is not known nothing.
 */
#define STEPS_PACKED_MAX	(MEMTAP_MAX_SLOTS * 8 + MEMTAP_ALL_TEXT)

/* Bytes that steps_pack() needs at most. */
u32 steps_packed_max(const struct steps *s, u32 mask);
/* @buf: aligned to 8.  Returns how many bytes it took. */
u32 steps_pack(const struct steps *s, const struct steps_values *v, u32 mask, void *buf);
/* The other way.  @known: which of @mask are there.  Returns 1, or 0: nonsense. */
int steps_unpack(const struct steps *s, struct steps_values *v, u32 mask, u32 known,
		 const void *buf, u32 len);

/* Have all strings that the steps keep room?  Behind steps_check(), which asks, too. */
int steps_texts_fit(const struct steps *s);

/* What a step takes from the stack, and puts there. */
void steps_effect(u32 op, u32 *takes, u32 *puts);

/* @v, of which only so many bytes are meant, and maybe a sign. */
static inline u64 steps_cast(u64 v, u32 type)
{
	if (type & 8)
		return v;
	switch (type & (MEMTAP_TYPE_BYTES | MEMTAP_TYPE_SIGNED)) {
	case 1: return (u8)v;
	case 2: return (u16)v;
	case 4: return (u32)v;
	case 1 | MEMTAP_TYPE_SIGNED: return (u64)(s64)(signed char)v;
	case 2 | MEMTAP_TYPE_SIGNED: return (u64)(s64)(short)v;
	case 4 | MEMTAP_TYPE_SIGNED: return (u64)(s64)(s32)v;
	default: return v;
	}
}

/* @b is greater than 0; rounded down */
static inline u64 steps_divide(s64 a, s64 b)
{
	return a >= 0 ? port_div64((u64)a, (u64)b) : 0 - (port_div64(0 - (u64)a - 1, (u64)b) + 1);
}

/* As C divides, towards 0; @b is not 0.  The one quotient that does not fit wraps. */
static inline u64 steps_quotient(u64 a, u64 b, u32 is_signed)
{
	const u32 minus_a = is_signed && (s64)a < 0, minus_b = is_signed && (s64)b < 0;
	const u64 q = port_div64(minus_a ? 0 - a : a, minus_b ? 0 - b : b);

	return minus_a != minus_b ? 0 - q : q;
}

static inline u64 steps_shift_right(u64 a, u32 n, u32 is_signed)
{
	const u64 sign = is_signed && (s64)a < 0 ? ~0ULL : 0;

	return ((a ^ sign) >> n) ^ sign;
}

/* 64 numbers at most for each sign. */
static inline s64 steps_log2(s64 a)
{
	return a >= 0 ? (s64)port_fls64((u64)a) : 0 - (s64)port_fls64(0 - (u64)a);
}

/* What a step that takes two numbers puts: of known ones, see steps_binary_known(). */
static inline u64 steps_binary(u32 op, u32 type, u64 a, u64 b)
{
	const s64 sa = (s64)a, sb = (s64)b;

	switch (op) {
	case MEMTAP_STEP_ADD: return a + b;
	case MEMTAP_STEP_SUB: return a - b;
	case MEMTAP_STEP_AND: return a & b;
	case MEMTAP_STEP_OR: return a | b;
	case MEMTAP_STEP_SHL: return a << (b & 63);
	case MEMTAP_STEP_EQ: return a == b;
	case MEMTAP_STEP_NE: return a != b;
	case MEMTAP_STEP_LT: return type ? sa < sb : a < b;
	case MEMTAP_STEP_LE: return type ? sa <= sb : a <= b;
	case MEMTAP_STEP_GT: return type ? sa > sb : a > b;
	case MEMTAP_STEP_GE: return type ? sa >= sb : a >= b;
	case MEMTAP_STEP_BOTH: return a && b;
	case MEMTAP_STEP_DIV: return sb > 0 ? steps_divide(sa, sb) : 0;
	case MEMTAP_STEP_MUL: return a * b;
	case MEMTAP_STEP_QUOT: return b ? steps_quotient(a, b, type) : 0;
	case MEMTAP_STEP_REM: return b ? a - steps_quotient(a, b, type) * b : 0;
	case MEMTAP_STEP_SHR: return steps_shift_right(a, b & 63, type);
	case MEMTAP_STEP_XOR: return a ^ b;
	default: return a || b;
	}
}

/* Known is also what does not depend on what is not. */
static inline u32 steps_binary_known(u32 op, u64 a, u32 a_known, u64 b, u32 b_known)
{
	if (op == MEMTAP_STEP_BOTH)
		return (a_known && b_known) || (a_known && !a) || (b_known && !b);
	if (op == MEMTAP_STEP_EITHER)
		return (a_known && b_known) || (a_known && a) || (b_known && b);
	if (op == MEMTAP_STEP_DIV && (s64)b <= 0)
		return 0;
	if ((op == MEMTAP_STEP_QUOT || op == MEMTAP_STEP_REM) && !b)
		return 0;
	return a_known && b_known;
}

/* A number of the machine's byte order. */
static inline u64 steps_number(const void *at, u32 type)
{
	unsigned short shorter;
	u32 narrow;
	u64 v;

	switch (type & MEMTAP_TYPE_BYTES) {
	case 8:
		memcpy(&v, at, 8);
		return v;
	case 4:
		memcpy(&narrow, at, 4);
		return type & MEMTAP_TYPE_SIGNED ? (u64)(s64)(s32)narrow : narrow;
	case 2:
		memcpy(&shorter, at, 2);
		v = shorter;
		break;
	default:
		v = *(const u8 *)at;
		break;
	}
	return steps_cast(v, type);
}

/* What steps of an event can ask for: STEPS_*. */
static inline u32 steps_can(const struct memtap_attach *a)
{
	u32 ret = a->flags & MEMTAP_ATTACH_RETURN ? STEPS_RETURN : 0;

	switch (a->kind) {
	case MEMTAP_ATTACH_TRACEPOINT:
		return STEPS_RECORD;
	case MEMTAP_ATTACH_PAIR:
		return STEPS_RECORD | STEPS_PAIR;
	case MEMTAP_ATTACH_KPROBE:
		return STEPS_FUNCTION | STEPS_KERNEL | ret;
	case MEMTAP_ATTACH_UPROBE:
		return STEPS_FUNCTION | ret;
	case MEMTAP_ATTACH_PERF:
		return STEPS_VALUE;
	default:
		/* a record that has nothing, of events that have none */
		return STEPS_VALUE | STEPS_RECORD;
	}
}

#endif
