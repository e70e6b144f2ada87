/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_COUNTERS_H
#define _CORE_COUNTERS_H

#include "port.h"
#include "hist.h"

/*
 * Per-CPU hash tables of counters, over one pool.
 *
 * Each CPU has its own heads and is the only writer of its own counters, so
 * that adding is a plain increment.  Slots come from a pool shared by all CPUs,
 * in batches: memory grows with distinct keys on the CPUs where they occur, and
 * the idle CPUs of a large machine cost only their heads.
 *
 * "The only writer" is the caller's duty: the module calls counters_add() with
 * interrupts off and never from an NMI.  Readers need no lock: a slot is
 * complete before it is linked, and never unlinked.  A reader may see count,
 * sum and max of slightly different moments.
 */
struct counter_key {
	u16 event;
	u16 flags;		/* MEMTAP_KEY_* */
	u32 task;
	u32 kstack;
	u32 ustack;
	u64 addr;
};

struct counter {
	u32 hash;
	u32 next;		/* slot number, 0 none; slot 0 is never used */
	struct counter_key key;
	u64 count;
	s64 sum;
	u64 max;		/* of the positive values */
	u64 reserved;		/* a cache line in all */
};

struct counter_pool {
	struct counter *slots;
	u64 *hist;		/* HIST_BUCKETS for each slot, or NULL */
	u32 nr;			/* slots, number 0 included */
	u32 used;		/* atomic; may run past nr when full */
};

#define COUNTERS_BATCH		16	/* slots that a CPU takes at once */
#define COUNTERS_CHAIN		256	/* links followed before giving up */

struct counters {
	struct counter_pool *pool;
	u32 *heads;
	u32 mask;
	u32 seed;
	u32 next_slot;		/* of this CPU's batch */
	u32 end_slot;
};

/* All of @slots, @hist and @heads must be zeroed; @nr_heads a power of two. */
void counter_pool_init(struct counter_pool *p, struct counter *slots, u64 *hist,
		       u32 nr);
void counters_init(struct counters *c, struct counter_pool *p, u32 *heads,
		   u32 nr_heads, u32 seed);

/**
 * counters_add() - count one event
 * Return: 1, or 0 when there is no room for a new key (or its chain is longer
 * than COUNTERS_CHAIN).
 */
int counters_add(struct counters *c, const struct counter_key *key, s64 value);

struct counters_iter {
	u32 head;
	u32 slot;
};

/*
 * Walk one CPU's counters, as stackstore_next() does.  Returns NULL at the end.
 * Each counter that was linked when the walk began is met once.
 */
const struct counter *counters_next(const struct counters *c,
				    struct counters_iter *it);

/* The histogram of a counter, or NULL if none are kept. */
const u64 *counters_hist(const struct counters *c, const struct counter *e);

#endif
