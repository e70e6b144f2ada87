// SPDX-License-Identifier: GPL-2.0-only
/* Remember recently freed blocks, to recognize double frees. */
#include "recent.h"

/* A slot that is neither holds a key: its state is a part of the key's hash. */
enum { FREE, BUSY, TAGS = 4 };

/* A free slot's @when is so far back that it is the oldest. */
#define FREE_AGE	(1U << 30)

void recents_init(struct recents *t, struct recent *slots, u32 nr, u32 seed)
{
	t->slots = slots;
	t->mask = nr / RECENT_WAYS - 1;
	t->seed = seed;
}

static inline struct recent *set_of(const struct recents *t, u32 space, u64 addr,
				    u32 *tag)
{
	u64 h = ((u64)t->seed << 32 | space) * 0x9e3779b97f4a7c15ULL;

	h = (h ^ addr) * 0x9e3779b97f4a7c15ULL;
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93ULL;
	h ^= h >> 32;
	*tag = (u32)h | TAGS;
	return &t->slots[((u32)(h >> 32) & t->mask) * RECENT_WAYS];
}

static inline int claim(struct recent *r, u32 state)
{
	return READ_ONCE(r->state) == state &&
	       port_cmpxchg(&r->state, state, BUSY) == state;
}

static inline void release(struct recent *r, u32 state)
{
	smp_store_release(&r->state, state);
}

/* Claim the slot if it holds this block. */
static inline int claim_block(struct recent *r, u32 tag, u32 space, u64 addr)
{
	if (likely(READ_ONCE(r->state) != tag) || !claim(r, tag))
		return 0;
	if (r->block.addr == addr && r->block.space == space)
		return 1;
	release(r, tag);
	return 0;
}

/*
 * Claim the slot that has the block, or else the oldest; NULL: others were faster.
 * *@now is set to what comes after all that the set had: it has a clock of its own,
 * so that CPUs share none.  A slot that is free is older than any other.
 */
static inline struct recent *claim_any(struct recent *set, u32 tag, const struct live *b,
				       u32 *now)
{
	struct recent *r, *own = NULL, *oldest = set;
	u32 first = READ_ONCE(set->when), state;
	s32 after, least = 0, most = 0;

	for (r = set; r < set + RECENT_WAYS; r++) {
		if (!own && claim_block(r, tag, b->space, b->addr))
			own = r;
		after = (s32)(READ_ONCE(r->when) - first);
		if (after > most)
			most = after;
		if (after < least) {
			least = after;
			oldest = r;
		}
	}
	*now = first + (u32)most + 1;
	if (own)
		return own;
	state = READ_ONCE(oldest->state);
	return state != BUSY && claim(oldest, state) ? oldest : NULL;
}

void recents_put(struct recents *t, const struct recent *r)
{
	u32 tag, now;
	struct recent *set = set_of(t, r->block.space, r->block.addr, &tag);
	struct recent *slot = claim_any(set, tag, &r->block, &now);

	if (!slot)
		return;
	WRITE_ONCE(slot->when, now);
	slot->block = r->block;
	slot->ustack = r->ustack;
	slot->task = r->task;
	slot->event = r->event;
	release(slot, tag);
}

int recents_get(struct recents *t, u32 space, u64 addr, struct recent *out)
{
	u32 tag;
	struct recent *set = set_of(t, space, addr, &tag), *r;

	for (r = set; r < set + RECENT_WAYS; r++) {
		if (!claim_block(r, tag, space, addr))
			continue;
		out->when = r->when;
		out->block = r->block;
		out->ustack = r->ustack;
		out->task = r->task;
		out->event = r->event;
		release(r, tag);
		return 1;
	}
	return 0;
}

void recents_forget(struct recents *t, u32 space, u64 addr)
{
	u32 tag;
	struct recent *set = set_of(t, space, addr, &tag), *r;

	for (r = set; r < set + RECENT_WAYS; r++) {
		if (!claim_block(r, tag, space, addr))
			continue;
		WRITE_ONCE(r->when, r->when - FREE_AGE);
		release(r, FREE);
	}
}
