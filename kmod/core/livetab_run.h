/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_LIVETAB_RUN_H
#define _CORE_LIVETAB_RUN_H

#include "livetab.h"

/*
 * livetab_put() and livetab_take(), to be compiled into who calls them: a block that nobody
 * else asks for the address of is not in memory before it is in the table.
 */

/* Odd, with bits all over: products spread what they are fed upwards. */
#define LIVETAB_MIX	0x9e3779b97f4a7c15ULL
#define LIVETAB_FINAL	0xd6e8feb86659fd93ULL

#define LIVETAB_NO_SLOT	(~0U)

/* livetab.c: a slot of the pool, under the shard's lock; of any shard, under none.  0: none */
u32 livetab_pool_slot(struct livetab *t, struct livetab_shard *s);
u32 livetab_steal(struct livetab *t, struct livetab_shard *thief);

static __always_inline u32 livetab_head_of(const struct livetab *t, u32 space, u64 addr)
{
	u64 h = ((u64)t->seed << 32 | space) * LIVETAB_MIX;

	h = (h ^ addr) * LIVETAB_MIX;
	h ^= h >> 32;
	h *= LIVETAB_FINAL;
	return (u32)(h >> 32) & t->head_mask;
}

static __always_inline struct livetab_shard *livetab_shard_of(const struct livetab *t, u32 head)
{
	return &t->shards[head >> t->shard_shift];
}

/*
 * The slot of the block, to which *link leads then; 0: it is not there; LIVETAB_NO_SLOT: nor
 * is it, and the chain is as long as it may be.
 */
static __always_inline u32 livetab_find(struct live *slots, u32 **link, u32 space, u64 addr)
{
	u32 left = LIVETAB_CHAIN, slot;
	struct live *b;

	while ((slot = **link) != 0) {
		b = &slots[slot];
		if (b->addr == addr && b->space == space)
			return slot;
		if (unlikely(!--left))
			return LIVETAB_NO_SLOT;
		*link = &b->next;
	}
	return 0;
}

/* Others look at a shard's slots before they lock it: see livetab_steal(). */
static __always_inline u32 livetab_own_slot(struct live *slots, struct livetab_shard *s)
{
	u32 slot = s->free;

	if (likely(slot)) {
		WRITE_ONCE(s->free, slots[slot].next);
		return slot;
	}
	slot = s->next_slot;
	if (slot == s->end_slot)
		return 0;
	WRITE_ONCE(s->next_slot, slot + 1);
	return slot;
}

static __always_inline void livetab_put_slot(struct live *slots, struct livetab_shard *s,
					     u32 slot)
{
	slots[slot].space = 0;
	slots[slot].next = s->free;
	WRITE_ONCE(s->free, slot);
}

static __always_inline void livetab_fill(struct live *to, const struct live *b, u32 next)
{
	to->addr = b->addr;
	to->size = b->size;
	to->next = next;
	to->space = b->space;
	to->ustack = b->ustack;
	to->task = b->task;
	to->birth = b->birth;
	to->event = b->event;
	to->flags = b->flags;
}

static __always_inline u32 livetab_put_locked(struct livetab *t, struct livetab_shard *s,
					      u32 *head, const struct live *b, struct live *was)
{
	struct live *const slots = t->slots;
	u32 *link = head, slot;

	slot = livetab_find(slots, &link, b->space, b->addr);
	if (unlikely(slot == LIVETAB_NO_SLOT))
		return LIVETAB_FULL;
	if (unlikely(slot)) {
		*was = slots[slot];
		livetab_fill(&slots[slot], b, was->next);
		return LIVETAB_REPLACED;
	}
	slot = livetab_own_slot(slots, s);
	if (unlikely(!slot)) {
		slot = livetab_pool_slot(t, s);
		if (!slot)
			return LIVETAB_NO_SLOT;
	}
	livetab_fill(&slots[slot], b, *head);
	WRITE_ONCE(*head, slot);
	WRITE_ONCE(s->used, s->used + 1);
	return LIVETAB_NEW;
}

static __always_inline int livetab_put_here(struct livetab *t, const struct live *b,
					    struct live *was)
{
	u32 nr = livetab_head_of(t, b->space, b->addr);
	struct livetab_shard *s = livetab_shard_of(t, nr);
	u32 *head = &t->heads[nr], stolen = 0, ret;

	__builtin_prefetch(head);
	for (;;) {
		port_lock(&s->lock);
		if (unlikely(stolen))
			livetab_put_slot(t->slots, s, stolen);
		ret = livetab_put_locked(t, s, head, b, was);
		port_unlock(&s->lock);
		if (likely(ret != LIVETAB_NO_SLOT))
			return (int)ret;
		stolen = livetab_steal(t, s);	/* so it ends the next time */
		if (!stolen)
			return LIVETAB_FULL;
	}
}

/* Take the block that @link leads to out of its chain. */
static __always_inline void livetab_drop(struct live *slots, struct livetab_shard *s, u32 *link)
{
	u32 slot = *link;

	WRITE_ONCE(*link, slots[slot].next);
	livetab_put_slot(slots, s, slot);
	WRITE_ONCE(s->used, s->used - 1);
}

/*
 * @size: of that alone; 0: of any.  Who gives a block back had it from who put it in, so what
 * is there is seen: where nothing is, there is no need for the lock.
 */
static __always_inline int livetab_take_here(struct livetab *t, u32 space, u64 addr, u64 size,
					     struct live *out)
{
	u32 nr = livetab_head_of(t, space, addr);
	u32 *head = &t->heads[nr], *link = head, slot;
	struct live *const slots = t->slots;
	struct livetab_shard *s;
	int found;

	if (!READ_ONCE(*head))
		return 0;
	s = livetab_shard_of(t, nr);
	port_lock(&s->lock);
	slot = livetab_find(slots, &link, space, addr);
	found = slot && slot != LIVETAB_NO_SLOT && (!size || slots[slot].size == size);
	if (found) {
		*out = slots[slot];
		livetab_drop(slots, s, link);
	}
	port_unlock(&s->lock);
	return found;
}

#endif
