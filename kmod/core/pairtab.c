// SPDX-License-Identifier: GPL-2.0-only
/* Keep the data of a call's entry until its return. */
#include "pairtab.h"

enum { FREE, BUSY, FULL };

/*
 * A slot that holds a key may be busy because somebody who was after its last
 * holder is just letting go of it: a moment, so look again before giving up.
 */
#define LOOKS	16

void pairtab_init(struct pairtab *t, struct pair *slots, u32 nr, u32 seed)
{
	t->slots = slots;
	t->mask = nr / PAIRTAB_WAYS - 1;
	t->seed = seed;
	t->clock = 0;
	t->evicted = 0;
}

static struct pair *set_of(const struct pairtab *t, const struct pair_key *key)
{
	u64 h = (u64)t->seed << 32 | t->seed;

	h = (h ^ key->a) * 0x9e3779b97f4a7c15ULL;
	h = (h ^ key->b) * 0x9e3779b97f4a7c15ULL;
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93ULL;
	return &t->slots[((u32)(h >> 32) & t->mask) * PAIRTAB_WAYS];
}

/* May look at a slot that is being written: claim it, then ask again. */
static int holds(const struct pair *p, const struct pair_key *key, u32 event)
{
	return READ_ONCE(p->key.a) == key->a && READ_ONCE(p->key.b) == key->b &&
	       READ_ONCE(p->event) == event;
}

static int claim(struct pair *p, u32 state)
{
	return READ_ONCE(p->state) == state &&
	       port_cmpxchg(&p->state, state, BUSY) == state;
}

static void release(struct pair *p, u32 state)
{
	smp_store_release(&p->state, state);
}

/*
 * Claim the slot of @set that holds @key, or NULL; of several the youngest, see
 * pairtab_put_at().  *@held: it was busy.
 */
static struct pair *claim_key(struct pair *set, const struct pair_key *key,
			      u32 event, u32 *held)
{
	struct pair *p, *found = NULL;

	*held = 0;
	for (p = set; p < set + PAIRTAB_WAYS; p++) {
		if (READ_ONCE(p->state) == FREE || !holds(p, key, event))
			continue;
		if (!claim(p, FULL)) {
			*held = 1;
			continue;
		}
		if (!holds(p, key, event) ||
		    (found && (s32)(READ_ONCE(p->birth) - READ_ONCE(found->birth)) < 0)) {
			release(p, FULL);
			continue;
		}
		if (found)
			release(found, FULL);
		found = p;
	}
	return found;
}

static struct pair *claim_free(struct pair *set)
{
	struct pair *p;

	for (p = set; p < set + PAIRTAB_WAYS; p++)
		if (claim(p, FREE))
			return p;
	return NULL;
}

static struct pair *claim_oldest(struct pairtab *t, struct pair *set)
{
	struct pair *p, *oldest = NULL;
	u32 now = READ_ONCE(t->clock), age, most = 0;

	for (p = set; p < set + PAIRTAB_WAYS; p++) {
		if (READ_ONCE(p->state) != FULL)
			continue;
		age = now - READ_ONCE(p->birth);
		if (!oldest || age > most) {
			oldest = p;
			most = age;
		}
	}
	if (!oldest || !claim(oldest, FULL))
		return NULL;
	port_fetch_add(&t->evicted, 1);
	return oldest;
}

/* All but the state, which others look at and try to claim. */
static void copy_out(struct pair *out, const struct pair *slot)
{
	out->state = FULL;
	out->birth = slot->birth;
	out->key = slot->key;
	out->kstack = slot->kstack;
	out->ustack = slot->ustack;
	out->task = slot->task;
	out->event = slot->event;
	out->arg = slot->arg;
}

/* Claims a slot for @p, or NULL. */
static struct pair *claim_for(struct pairtab *t, const struct pair *p)
{
	struct pair *set = set_of(t, &p->key);
	struct pair *slot;
	u32 looks, held;

	slot = claim_key(set, &p->key, p->event, &held);
	for (looks = 0; !slot && looks < PAIRTAB_WAYS; looks++) {
		slot = claim_free(set);
		if (!slot)
			slot = claim_oldest(t, set);
	}
	return slot;
}

/* Fills in a slot that was claimed, but for what the caller adds. */
static __always_inline void fill(struct pairtab *t, struct pair *slot, const struct pair *p)
{
	WRITE_ONCE(slot->birth, port_fetch_add(&t->clock, 1));
	WRITE_ONCE(slot->key.a, p->key.a);
	WRITE_ONCE(slot->key.b, p->key.b);
	WRITE_ONCE(slot->event, p->event);
	slot->kstack = p->kstack;
	slot->ustack = p->ustack;
	slot->task = p->task;
	slot->arg = p->arg;
}

/* Claims the slot with @key, or NULL. */
static __always_inline struct pair *find(struct pairtab *t, const struct pair_key *key, u32 event)
{
	struct pair *set = set_of(t, key);
	struct pair *slot = NULL;
	u32 looks, held = 1;

	for (looks = 0; !slot && held && looks < LOOKS; looks++)
		slot = claim_key(set, key, event, &held);
	return slot;
}

static void *data_of(const struct pairtab *t, const struct pair *slot)
{
	return t->data + (u64)(slot - t->slots) * t->data_size;
}

int pairtab_put(struct pairtab *t, const struct pair *p)
{
	struct pair *slot = claim_for(t, p);

	if (!slot)
		return 0;
	fill(t, slot, p);
	release(slot, FULL);
	return 1;
}

int pairtab_put_with(struct pairtab *t, const struct pair *p, const void *data, u32 len)
{
	struct pair *slot = claim_for(t, p);

	if (!slot)
		return 0;
	fill(t, slot, p);
	memcpy(data_of(t, slot), data, len);
	release(slot, FULL);
	return 1;
}

static struct pair *hinted(const struct pairtab *t, const struct pair_hint *hint)
{
	u32 i = hint->slot - 1;

	return i < (t->mask + 1) * PAIRTAB_WAYS ? &t->slots[i] : NULL;
}

/*
 * Where the key's last pair was there is room for its next.  That leaves another one of the
 * key, whose second half never came, where it is; so that claim_key() takes the youngest.
 */
int pairtab_put_at(struct pairtab *t, const struct pair *p, const void *data, u32 len,
		   struct pair_hint *hint, u32 once)
{
	struct pair *slot = hinted(t, hint);

	if (slot && (once || holds(slot, &p->key, p->event)) && claim(slot, FREE)) {
		if (!once && !holds(slot, &p->key, p->event)) {
			release(slot, FREE);
			slot = NULL;
		}
	} else {
		slot = NULL;
	}
	if (!slot)
		slot = claim_for(t, p);
	if (!slot)
		return 0;
	fill(t, slot, p);
	hint->slot = (u32)(slot - t->slots) + 1;
	hint->birth = slot->birth;
	memcpy(data_of(t, slot), data, len);
	release(slot, FULL);
	return 1;
}

int pairtab_take(struct pairtab *t, const struct pair_key *key, u32 event,
		 struct pair *out)
{
	struct pair *slot = find(t, key, event);

	if (!slot)
		return 0;
	copy_out(out, slot);
	release(slot, FREE);
	return 1;
}

int pairtab_take_with(struct pairtab *t, const struct pair_key *key, u32 event,
		      struct pair *out, void *data)
{
	struct pair *slot = find(t, key, event);

	if (!slot)
		return 0;
	copy_out(out, slot);
	memcpy(data, data_of(t, slot), t->data_size);
	release(slot, FREE);
	return 1;
}

/* Without @once the key may have a younger pair; not where this is the youngest of all. */
int pairtab_take_at(struct pairtab *t, const struct pair_key *key, u32 event, struct pair *out,
		    void *data, const struct pair_hint *hint, u32 once)
{
	struct pair *slot = hinted(t, hint);

	if (!slot || READ_ONCE(slot->birth) != hint->birth ||
	    (!once && READ_ONCE(t->clock) != hint->birth + 1) || !claim(slot, FULL))
		return pairtab_take_with(t, key, event, out, data);
	if (!holds(slot, key, event) || READ_ONCE(slot->birth) != hint->birth) {
		release(slot, FULL);
		return pairtab_take_with(t, key, event, out, data);
	}
	copy_out(out, slot);
	memcpy(data, data_of(t, slot), t->data_size);
	release(slot, FREE);
	return 1;
}

int pairtab_peek(const struct pairtab *t, u32 i, struct pair *out, void *data, u32 len)
{
	const struct pair *slot = &t->slots[i];
	u32 birth;

	if (smp_load_acquire(&slot->state) != FULL)
		return 0;
	birth = READ_ONCE(slot->birth);
	copy_out(out, slot);
	memcpy(data, data_of(t, slot), len);
	/* whoever took it meanwhile, and whoever came then, has changed one of these */
	smp_rmb();
	return READ_ONCE(slot->state) == FULL && READ_ONCE(slot->birth) == birth;
}
