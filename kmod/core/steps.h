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
	u32 reserved;
	u64 number[MEMTAP_MAX_SLOTS];
	u8 len[MEMTAP_MAX_SLOTS];	/* of the strings, without the 0 that follows */
	char text[MEMTAP_MAX_SLOTS][STEPS_TEXT];
};

/*
 * The slots of @mask behind each other: a number takes 8 bytes; a string a byte with its
 * length, itself, and what is missing to a multiple of 8; what is not known nothing.
 */
#define STEPS_PACKED_SLOT	(8 + STEPS_TEXT)
#define STEPS_PACKED_MAX	(MEMTAP_MAX_SLOTS * STEPS_PACKED_SLOT)

/* Bytes that steps_pack() needs at most. */
u32 steps_packed_max(const struct steps *s, u32 mask);
/* @buf: aligned to 8.  Returns how many bytes it took. */
u32 steps_pack(const struct steps_values *v, u32 mask, u32 text, void *buf);
/* The other way.  @known: which of @mask are there.  Returns 1, or 0: nonsense. */
int steps_unpack(struct steps_values *v, u32 mask, u32 text, u32 known, const void *buf, u32 len);

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
