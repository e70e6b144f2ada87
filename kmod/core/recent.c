// SPDX-License-Identifier: GPL-2.0-only
#include "recent.h"

/* A slot that is neither holds a key: its state is a part of the key's hash. */
enum { FREE, BUSY, TAGS = 4 };

void recents_init(struct recents *t, struct recent *slots, u32 nr, u32 seed)
{
	t->slots = slots;
	t->mask = nr / RECENT_WAYS - 1;
	t->seed = seed;
	t->clock = 0;
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

/* Claim a slot for a block: its own, a free one, or the oldest. */
static struct recent *claim_any(struct recents *t, struct recent *set, u32 tag,
				const struct live *b)
{
	struct recent *r, *best = NULL;
	u32 now = READ_ONCE(t->clock), state, best_state = 0, age, most = 0;

	for (r = set; r < set + RECENT_WAYS; r++) {
		if (claim_block(r, tag, b->space, b->addr))
			return r;
		state = READ_ONCE(r->state);
		if (state == BUSY)
			continue;
		age = state == FREE ? ~0U : now - READ_ONCE(r->when);
		if (!best || age > most) {
			best = r;
			best_state = state;
			most = age;
		}
	}
	return best && claim(best, best_state) ? best : NULL;
}

void recents_put(struct recents *t, const struct recent *r)
{
	u32 tag;
	struct recent *set = set_of(t, r->block.space, r->block.addr, &tag);
	struct recent *slot = claim_any(t, set, tag, &r->block);

	if (!slot)
		return;
	WRITE_ONCE(slot->when, port_fetch_add(&t->clock, 1));
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

	for (r = set; r < set + RECENT_WAYS; r++)
		if (claim_block(r, tag, space, addr))
			release(r, FREE);
}
