// SPDX-License-Identifier: GPL-2.0-only
/* Per-CPU hash tables of counters. */
#include "counters.h"

#define MAX_SLOTS	(1U << 31)	/* used stays far from wrapping */

#define MIX		0x9e3779b97f4a7c15ULL
#define FINAL		0xd6e8feb86659fd93ULL

void counter_pool_init(struct counter_pool *p, struct counter *slots, u64 *hist,
		       u32 nr)
{
	p->slots = slots;
	p->hist = hist;
	p->nr = nr > MAX_SLOTS ? MAX_SLOTS : nr;
	p->used = 1;
}

void counters_init(struct counters *c, struct counter_pool *p, u32 *heads,
		   u32 nr_heads, u32 seed)
{
	c->pool = p;
	c->heads = heads;
	c->mask = nr_heads - 1;
	c->seed = seed;
	c->next_slot = 0;
	c->end_slot = 0;
}

static inline u32 hash_key(const struct counter_key *key, u32 seed)
{
	u64 h = seed;

	h = (h ^ counters_word(key, 0)) * MIX;
	h = (h ^ counters_word(key, 1)) * MIX;
	h = (h ^ counters_word(key, 2)) * MIX;
	h ^= h >> 32;
	h *= FINAL;
	return (u32)(h >> 32);
}

/* A slot of this CPU's own, or 0 when the pool is empty. */
static u32 take_slot(struct counters *c)
{
	struct counter_pool *p = c->pool;
	u32 slot;

	if (c->next_slot != c->end_slot)
		return c->next_slot++;
	if (READ_ONCE(p->used) >= p->nr)	/* used must not run away */
		return 0;
	slot = port_fetch_add(&p->used, COUNTERS_BATCH);
	if (slot >= p->nr)
		return 0;
	c->next_slot = slot + 1;
	c->end_slot = p->nr - slot < COUNTERS_BATCH ? p->nr :
		      slot + COUNTERS_BATCH;
	return slot;
}

/*
 * Link a new counter that already has its first event in it.  Kept apart, so
 * that adding to a known one saves no registers for it.
 */
static __attribute__((__noinline__)) u32
add_new(struct counters *c, u32 *head, u32 hash,
	const struct counter_key *key, s64 value)
{
	u32 slot = take_slot(c);
	struct counter *e;

	if (!slot)
		return 0;
	e = &c->pool->slots[slot];
	e->hash = hash;
	e->next = *head;
	e->key = *key;
	e->count = 1;
	e->sum = value;
	e->max = value;
	e->min = value;
	if (c->pool->hist)
		counters_hist_of(c->pool, slot)[hist_bucket(value)] = 1;
	smp_store_release(head, slot);
	return slot;
}

int counters_add_new_at(struct counters *c, const struct counter_key *key, s64 value,
			u32 *at)
{
	struct counter *slots = c->pool->slots;
	u32 hash, slot, *head, links;

	hash = hash_key(key, c->seed);
	head = &c->heads[hash & c->mask];
	slot = *head;
	for (links = 0; slot && links < COUNTERS_CHAIN; links++) {
		if (slots[slot].hash == hash && counters_same(&slots[slot].key, key)) {
			*at = slot;
			counters_count(c->pool, &slots[slot], value);
			return 1;
		}
		slot = slots[slot].next;
	}
	*at = links < COUNTERS_CHAIN ? add_new(c, head, hash, key, value) : 0;
	return *at != 0;
}

int counters_add(struct counters *c, const struct counter_key *key, s64 value)
{
	u32 slot;

	return counters_add_new_at(c, key, value, &slot);
}

const struct counter *counters_next(const struct counters *c,
				    struct counters_iter *it)
{
	const struct counter *slots = c->pool->slots;

	if (it->slot)
		it->slot = slots[it->slot].next;
	while (!it->slot && it->head <= c->mask)
		it->slot = smp_load_acquire(&c->heads[it->head++]);
	return it->slot ? &slots[it->slot] : NULL;
}

const u64 *counters_hist(const struct counters *c, const struct counter *e)
{
	if (!c->pool->hist)
		return NULL;
	return counters_hist_of(c->pool, (u32)(e - c->pool->slots));
}
