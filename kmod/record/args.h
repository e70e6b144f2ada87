/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_ARGS_H
#define _MEMTAP_ARGS_H

#include "core/pairtab.h"
#include "core/steps.h"
#include "record/listen.h"

struct memtap_session;

/**
 * struct memtap_args_hit - an event whose arguments are wanted
 * @hit:	as of the others, without a value
 * @user:	the registers are a program's
 * @hint:	of entries and returns whose key nobody has again: both have what the entry
 *		left there; or NULL
 */
struct memtap_args_hit {
	struct memtap_hit hit;
	bool user;
	struct pair_hint *hint;
};

/*
 * What the entry keeps for the return.  Behind the return's steps, and where there are none, @keys
 * has what tells events apart.
 */
struct memtap_args_kept {
	u64 ns;				/* when it was */
	u32 known;
	u32 len;
	union {
		u8 packed[STEPS_PACKED_MAX] __aligned(8);
		u64 keys[1 + STEPS_PACKED_MAX / 8];
	};
};

/* Of these, as much as @steps may need. */
u32 memtap_args_kept_size(const struct steps *steps);

/**
 * struct memtap_args_run - how steps are done
 * @fault:	out, where user memory could not be read, or 0
 * @value:	of an event that has one of its own
 * @latency:	at the return
 */
struct memtap_args_run {
	const struct memtap_args_hit *at;
	u64 fault;
	u64 latency;
	u64 value;
	bool has_value;
};

/*
 * Does steps @from .. @to; @v is what is in the slots before and afterwards.  Returns whether
 * the event passes.  Under memtap_enter().
 */
bool memtap_args_do(const struct steps *steps, u32 from, u32 to, struct steps_values *v,
		    struct memtap_args_run *run);

#endif
