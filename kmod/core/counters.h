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
	s64 max;
	s64 min;		/* a cache line in all */
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

/* The same; *@slot: where it was counted now, or 0. */
int counters_add_new_at(struct counters *c, const struct counter_key *key, s64 value,
			u32 *slot);

static inline u64 *counters_hist_of(const struct counter_pool *p, u32 slot)
{
	return p->hist + (u64)slot * HIST_BUCKETS;
}

static inline void counters_count(struct counter_pool *p, struct counter *e, s64 value)
{
	port_add64(&e->count, 1);
	/* by way of unsigned: a sum may wrap, but not be undefined */
	WRITE_ONCE(e->sum, (s64)((u64)e->sum + (u64)value));
	if (value > e->max)
		WRITE_ONCE(e->max, value);
	if (value < e->min)
		WRITE_ONCE(e->min, value);
	if (unlikely(p->hist))
		port_add64(&counters_hist_of(p, (u32)(e - p->slots))[hist_bucket(value)], 1);
}

/* A key has no padding: three words say all of it. */
static inline u64 counters_word(const struct counter_key *key, u32 i)
{
	u64 word;

	memcpy(&word, (const u8 *)key + i * sizeof(word), sizeof(word));
	return word;
}

static inline int counters_same(const struct counter_key *a, const struct counter_key *b)
{
	return counters_word(a, 0) == counters_word(b, 0) &&
	       counters_word(a, 1) == counters_word(b, 1) &&
	       counters_word(a, 2) == counters_word(b, 2);
}

/*
 * Count one event, *@slot being where this was counted the last time, by the same @c, or
 * 0 if that is not known; out: where it was counted now.  Return: as counters_add().
 */
static __always_inline int counters_add_at(struct counters *c, const struct counter_key *key,
					   s64 value, u32 *slot)
{
	struct counter_pool *p = c->pool;

	if (likely(*slot) && likely(counters_same(&p->slots[*slot].key, key))) {
		counters_count(p, &p->slots[*slot], value);
		return 1;
	}
	return counters_add_new_at(c, key, value, slot);
}

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
