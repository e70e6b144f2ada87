// SPDX-License-Identifier: GPL-2.0-only
/* The hash table of live blocks. */
#include "livetab_run.h"

#define MAX_SLOTS	(1U << 30)	/* pool stays far from wrapping */
#define BYTES_PER_HEAD	48		/* 1.1 blocks a head at most, when full */
#define SHARDS_PER_CPU	8		/* so that two CPUs seldom meet in one */
#define LEAST_HEADS	128		/* of a shard: else its batch is too much */
#define MOST_HEADS	1024		/* of a shard: purging one holds its lock */

u64 livetab_layout(u64 bytes, u32 cpus, u32 *nr, u32 *nr_heads, u32 *nr_shards)
{
	u32 heads = 1, shards = 1;
	u64 index, slots;

	while (heads < MAX_SLOTS && (u64)heads * BYTES_PER_HEAD < bytes)
		heads *= 2;
	while ((u64)shards * 2 * LEAST_HEADS <= heads &&
	       ((u64)shards < (u64)cpus * SHARDS_PER_CPU ||
		shards < heads / MOST_HEADS))
		shards *= 2;
	index = (u64)heads * sizeof(u32) +
		(u64)shards * sizeof(struct livetab_shard);
	slots = bytes > index ? port_div64(bytes - index, sizeof(struct live)) : 0;
	if (slots > MAX_SLOTS)
		slots = MAX_SLOTS;
	if (slots < 2)		/* number 0 and one to use */
		slots = 2;
	*nr = (u32)slots;
	*nr_heads = heads;
	*nr_shards = shards;
	return index + slots * sizeof(struct live);
}

void livetab_init(struct livetab *t, struct live *slots, u32 nr, u32 *heads,
		  u32 nr_heads, struct livetab_shard *shards, u32 nr_shards,
		  u32 seed)
{
	u32 i;

	t->slots = slots;
	t->heads = heads;
	t->shards = shards;
	t->nr = nr > MAX_SLOTS ? MAX_SLOTS : nr;
	t->head_mask = nr_heads - 1;
	t->shard_mask = nr_shards - 1;
	t->shard_shift = port_fls64(nr_heads) - port_fls64(nr_shards);
	t->seed = seed;
	t->pool = 1;
	for (i = 0; i < nr_shards; i++) {
		port_lock_init(&shards[i].lock);
		shards[i].donor = i;
	}
}

u32 livetab_pool_slot(struct livetab *t, struct livetab_shard *s)
{
	u32 slot;

	if (READ_ONCE(t->pool) >= t->nr)	/* pool must not run away */
		return 0;
	slot = port_fetch_add(&t->pool, LIVETAB_BATCH);
	if (slot >= t->nr)
		return 0;
	WRITE_ONCE(s->next_slot, slot + 1);
	WRITE_ONCE(s->end_slot, t->nr - slot < LIVETAB_BATCH ? t->nr :
				slot + LIVETAB_BATCH);
	return slot;
}

/* A slot of any shard.  No lock is held, so that no two ever are. */
u32 livetab_steal(struct livetab *t, struct livetab_shard *thief)
{
	struct livetab_shard *s;
	u32 donor = READ_ONCE(thief->donor), slot, i;

	for (i = 0; i < LIVETAB_STEAL && i <= t->shard_mask; i++, donor++) {
		s = &t->shards[donor & t->shard_mask];
		if (!READ_ONCE(s->free) &&
		    READ_ONCE(s->next_slot) == READ_ONCE(s->end_slot))
			continue;
		port_lock(&s->lock);
		slot = livetab_own_slot(t->slots, s);
		port_unlock(&s->lock);
		if (slot) {
			WRITE_ONCE(thief->donor, donor);
			return slot;
		}
	}
	/* so that all of a large table are asked, in the course of time */
	WRITE_ONCE(thief->donor, donor);
	return 0;
}

int livetab_put(struct livetab *t, const struct live *b, struct live *was)
{
	return livetab_put_here(t, b, was);
}

int livetab_take(struct livetab *t, u32 space, u64 addr, struct live *out)
{
	return livetab_take_here(t, space, addr, 0, out);
}

int livetab_take_sized(struct livetab *t, u32 space, u64 addr, u64 size, struct live *out)
{
	return livetab_take_here(t, space, addr, size, out);
}

int livetab_get(struct livetab *t, u32 space, u64 addr, struct live *out)
{
	u32 nr = livetab_head_of(t, space, addr);
	struct livetab_shard *s = livetab_shard_of(t, nr);
	u32 *link = &t->heads[nr], slot;
	int found;

	port_lock(&s->lock);
	slot = livetab_find(t->slots, &link, space, addr);
	found = slot && slot != LIVETAB_NO_SLOT;
	if (found)
		*out = t->slots[slot];
	port_unlock(&s->lock);
	return found;
}

static u32 purge_chain(struct livetab *t, struct livetab_shard *s, u32 *link,
		       u32 space, u64 *bytes)
{
	struct live *b;
	u32 nr = 0;

	while (*link) {
		b = &t->slots[*link];
		if (b->space == space) {
			*bytes += b->size;
			livetab_drop(t->slots, s, link);
			nr++;
		} else {
			link = &b->next;
		}
	}
	return nr;
}

u32 livetab_purge(struct livetab *t, u32 shard, u32 space, u64 *bytes)
{
	struct livetab_shard *s = &t->shards[shard];
	u32 heads = 1U << t->shard_shift;
	u32 *head = &t->heads[shard << t->shard_shift];
	u32 nr = 0, i;

	port_lock(&s->lock);
	for (i = 0; i < heads && s->used; i++)
		nr += purge_chain(t, s, &head[i], space, bytes);
	port_unlock(&s->lock);
	return nr;
}

u32 livetab_read(struct livetab *t, u32 head, struct live *out)
{
	struct livetab_shard *s = livetab_shard_of(t, head);
	u32 slot, nr = 0;

	if (!READ_ONCE(t->heads[head]))
		return 0;
	port_lock(&s->lock);
	for (slot = t->heads[head]; slot; slot = t->slots[slot].next)
		out[nr++] = t->slots[slot];
	port_unlock(&s->lock);
	return nr;
}

u32 livetab_used(const struct livetab *t)
{
	u32 i, used = 0;

	for (i = 0; i <= t->shard_mask; i++)
		used += READ_ONCE(t->shards[i].used);
	return used;
}

u32 livetab_max(const struct livetab *t)
{
	u32 pool, left, rest = 0, i;

	/* a batch that changes hands meanwhile makes no sense, and counts as used */
	for (i = 0; i <= t->shard_mask; i++) {
		left = READ_ONCE(t->shards[i].end_slot) - READ_ONCE(t->shards[i].next_slot);
		rest += left < LIVETAB_BATCH ? left : 0;
	}
	pool = READ_ONCE(t->pool);
	return (pool < t->nr ? pool : t->nr) - 1 - rest;
}
