/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_RECENT_H
#define _CORE_RECENT_H

#include "port.h"
#include "livetab.h"

/*
 * Blocks that were freed just before, so that a second free of one can tell
 * about the first.  A small set-associative table that forgets the oldest of a
 * set; lock-free, a slot is claimed by cmpxchg and whoever does not get it goes
 * without: it is a memory, not an account.
 */
struct recent {
	u32 state;		/* atomic: free, busy, or 30 bits of the key's hash */
	u32 when;		/* order of insertion into the set */
	struct live block;	/* as it was */
	u32 ustack;		/* of the free, or 0 */
	u32 task;
	u32 event;
	u32 reserved;
};

#define RECENT_WAYS	4

struct recents {
	struct recent *slots;
	u32 mask;		/* sets - 1 */
	u32 seed;
};

/* @slots zeroed; @nr a power of two >= RECENT_WAYS */
void recents_init(struct recents *t, struct recent *slots, u32 nr, u32 seed);

/* Remember @r: block, ustack, task, event. */
void recents_put(struct recents *t, const struct recent *r);

/* Is it remembered?  1: *out is set, and it stays.  0: not. */
int recents_get(struct recents *t, u32 space, u64 addr, struct recent *out);

/* The address is handed out again: forget it. */
void recents_forget(struct recents *t, u32 space, u64 addr);

#endif
