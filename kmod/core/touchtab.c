// SPDX-License-Identifier: GPL-2.0-only
/* Map each page to the number of the event that touched it last. */
#include "touchtab.h"

#define MIX		0x9e3779b97f4a7c15ULL
#define FINAL		0xd6e8feb86659fd93ULL

#define MAX_SLOTS	(1U << 28)
#define BYTES_PER_HEAD	128		/* at most 1.6 places a head */
#define LEAST_HEADS	64		/* of a shard */
#define SHARDS_PER_CPU	4
#define CHAIN		32		/* links that are followed */
#define SWEEP		64		/* slots that are looked at for one that may go */

#define PLACES_OF_HUGE	(TOUCHTAB_REGION / TOUCHTAB_PAGES)

u64 touchtab_layout(u64 bytes, u32 cpus, u32 *per_shard, u32 *nr_heads, u32 *nr_shards)
{
	u32 heads = LEAST_HEADS, shards = 1;
	u64 index, slots;

	while (heads < MAX_SLOTS && (u64)heads * 2 * BYTES_PER_HEAD <= bytes)
		heads *= 2;
	while (shards * 2 * LEAST_HEADS <= heads && (u64)shards < (u64)cpus * SHARDS_PER_CPU)
		shards *= 2;
	index = (u64)heads * sizeof(u32) + (u64)shards * sizeof(struct touchtab_shard) +
		sizeof(struct touch);
	slots = bytes > index ? port_div64(bytes - index, sizeof(struct touch)) : 0;
	if (slots > MAX_SLOTS)
		slots = MAX_SLOTS;
	*per_shard = (u32)slots / shards;
	if (!*per_shard)
		*per_shard = 1;
	*nr_heads = heads;
	*nr_shards = shards;
	return index + (u64)*per_shard * shards * sizeof(struct touch);
}

void touchtab_init(struct touchtab *t, struct touch *slots, u32 per_shard, u32 *heads,
		   u32 nr_heads, struct touchtab_shard *shards, u32 nr_shards, u32 seed)
{
	u32 i;

	t->slots = slots;
	t->heads = heads;
	t->shards = shards;
	t->per_shard = per_shard;
	t->nr_heads = nr_heads;
	t->nr_shards = nr_shards;
	t->head_shift = port_fls64(nr_heads) - port_fls64(nr_shards);
	t->seed = seed;
	t->share = 0;
	t->is_gone = NULL;
	t->ctx = NULL;
	for (i = 0; i < nr_shards; i++)
		port_lock_init(&shards[i].lock);
}

static inline u64 mix(u64 seed, u32 space, u64 v)
{
	u64 h = (seed << 32 | space) * MIX;

	h = (h ^ v) * MIX;
	h ^= h >> 32;
	h *= FINAL;
	return h ^ h >> 32;
}

int touchtab_of_share(u32 seed, u32 share, u32 space, u64 page)
{
	/* another hash than that of places: shards have equal shares */
	return !(mix(~(u64)seed & 0xffffffff, space, page / TOUCHTAB_REGION) &
		 ((1U << share) - 1));
}

static inline u64 place_of(u64 page)
{
	return page / TOUCHTAB_PAGES * 2;
}

static inline u64 page_of(u64 place)
{
	return place / 2 * TOUCHTAB_PAGES;
}

static inline u32 head_of(const struct touchtab *t, u32 space, u64 place)
{
	return (u32)(mix(t->seed, space, place) >> 16) & (t->nr_heads - 1);
}

static inline struct touchtab_shard *shard_of(const struct touchtab *t, u32 head)
{
	return &t->shards[head >> t->head_shift];
}

static inline u32 first_slot(const struct touchtab *t, const struct touchtab_shard *s)
{
	return (u32)(s - t->shards) * t->per_shard + 1;
}

/* The link to it, or the last one, which is 0; NULL: the chain is too long. */
static inline u32 *find(const struct touchtab *t, u32 head, u32 space, u64 place)
{
	u32 *link = &t->heads[head], left = CHAIN;
	struct touch *e;

	for (; *link; link = &e->next) {
		e = &t->slots[*link];
		if (e->place == place && e->space == space)
			return link;
		if (!--left)
			return NULL;
	}
	return link;
}

/* --- room --------------------------------------------------------------------- */

static int may_evict(const struct touchtab *t, const struct touch *e)
{
	return (t->is_gone && t->is_gone(t->ctx, e->space)) ||
	       !touchtab_of_share(t->seed, READ_ONCE(t->share), e->space, page_of(e->place));
}

static void unlink_slot(struct touchtab *t, u32 slot)
{
	struct touch *e = &t->slots[slot];
	u32 *link = find(t, head_of(t, e->space, e->place), e->space, e->place);

	if (link && *link == slot)
		*link = e->next;
	e->space = 0;
}

static u32 recycle(struct touchtab *t, struct touchtab_shard *s)
{
	const u32 first = first_slot(t, s);
	u32 i, slot;

	for (i = 0; i < SWEEP && i < t->per_shard; i++) {
		slot = first + s->hand;
		s->hand = s->hand + 1 == t->per_shard ? 0 : s->hand + 1;
		if (t->slots[slot].space && may_evict(t, &t->slots[slot])) {
			unlink_slot(t, slot);
			return slot;
		}
	}
	return 0;
}

static __attribute__((__noinline__)) u32 old_slot(struct touchtab *t, struct touchtab_shard *s)
{
	u32 share = READ_ONCE(t->share), slot = recycle(t, s);

	if (slot || share >= TOUCHTAB_MOST_SHARE)
		return slot;
	/* whoever is the first; half of what is in each shard is not of it any more */
	port_cmpxchg(&t->share, share, share + 1);
	return recycle(t, s);
}

static u32 take_slot(struct touchtab *t, struct touchtab_shard *s)
{
	const u32 slot = s->free;

	if (slot) {
		s->free = t->slots[slot].next;
		return slot;
	}
	if (s->used < t->per_shard)
		return first_slot(t, s) + s->used++;
	return old_slot(t, s);
}

/* --- putting ------------------------------------------------------------------ */

/* Under the shard's lock: the place, or NULL: no room. */
static struct touch *make(struct touchtab *t, struct touchtab_shard *s, u32 head, u32 space,
			  u64 place)
{
	u32 *link = find(t, head, space, place), slot;
	struct touch *e;

	if (link && *link)
		return &t->slots[*link];
	slot = link ? take_slot(t, s) : 0;
	if (!slot)
		return NULL;
	e = &t->slots[slot];
	memset(e->who, 0, sizeof(e->who));
	e->place = place;
	e->space = space;
	e->next = t->heads[head];
	t->heads[head] = slot;
	return e;
}

static u32 ones(u32 bits)
{
	u32 nr = 0;

	for (; bits; bits &= bits - 1)
		nr++;
	return nr;
}

/* Where it is now, or 0: nowhere. */
static u32 put(struct touchtab *t, u32 space, u64 place, u32 bits, u32 who, u32 how)
{
	const u32 head = head_of(t, space, place);
	struct touchtab_shard *s = shard_of(t, head);
	struct touch *e = NULL;
	u32 i, *link, share;

	port_lock(&s->lock);
	share = READ_ONCE(t->share);
	if (unlikely(share) && !touchtab_of_share(t->seed, share, space, page_of(place))) {
		port_add64(&s->skipped, ones(bits));
		goto out;
	}
	if (how & TOUCHTAB_FORGET) {
		link = find(t, head, space, place);
		e = link && *link ? &t->slots[*link] : NULL;
		if (!e)
			goto out;
	} else {
		e = make(t, s, head, space, place);
	}
	if (!e) {
		port_add64(&s->refused, ones(bits));
		goto out;
	}
	for (; bits; bits &= bits - 1) {
		i = port_fls64(bits & -bits) - 1;
		if (!((how & TOUCHTAB_KEEP) && e->who[i]))
			e->who[i] = who;
	}
out:
	port_unlock(&s->lock);
	return e ? (u32)(e - t->slots) : 0;
}

/* It is no more; what it had in @was, unless that is NULL. */
static int drop(struct touchtab *t, u32 space, u64 place, struct touch *was)
{
	const u32 head = head_of(t, space, place);
	struct touchtab_shard *s = shard_of(t, head);
	u32 *link, slot = 0;

	port_lock(&s->lock);
	link = find(t, head, space, place);
	if (link && *link) {
		slot = *link;
		if (was)
			*was = t->slots[slot];
		*link = t->slots[slot].next;
		t->slots[slot].space = 0;
		t->slots[slot].next = s->free;
		s->free = slot;
	}
	port_unlock(&s->lock);
	return slot != 0;
}

static u32 find_mapper(struct touchtab *t, u32 space, u64 place)
{
	const u32 head = head_of(t, space, place);
	struct touchtab_shard *s = shard_of(t, head);
	u32 *link, who;

	port_lock(&s->lock);
	link = find(t, head, space, place);
	who = link && *link ? t->slots[*link].who[0] : 0;
	port_unlock(&s->lock);
	return who;
}

static inline u64 huge_place(u64 page)
{
	return place_of(page & ~(u64)(TOUCHTAB_REGION - 1)) + 1;
}

static __attribute__((__noinline__)) void put_elsewhere(struct touchtab *t,
							struct touchtab_hint *hint, u32 space,
							u64 page, u32 who)
{
	hint->place = place_of(page);
	hint->slot = put(t, space, hint->place, 1U << (page % TOUCHTAB_PAGES), who, 0);
	hint->space = hint->slot ? space : 0;
	if (hint->slot)
		hint->shard = &t->shards[(hint->slot - 1) / t->per_shard];
}

void touchtab_put_one(struct touchtab *t, struct touchtab_hint *hint, u32 space, u64 page, u32 who)
{
	struct touch *e;
	int there;

	/* of a share of all it may not be one */
	if (unlikely(hint->place != place_of(page) || hint->space != space ||
		     READ_ONCE(t->share))) {
		put_elsewhere(t, hint, space, page, who);
		return;
	}
	/* it may have gone since; but what is there is of this shard */
	e = &t->slots[hint->slot];
	port_lock(&hint->shard->lock);
	there = e->place == hint->place && e->space == space;
	if (likely(there))
		e->who[page % TOUCHTAB_PAGES] = who;
	port_unlock(&hint->shard->lock);
	if (unlikely(!there))
		put_elsewhere(t, hint, space, page, who);
}

void touchtab_put(struct touchtab *t, u32 space, u64 first, u64 mask, u32 who, u32 how)
{
	u64 page, place;
	u32 shift, bits;

	/* a part of a huge page that was split is still whose the whole was */
	if ((how & TOUCHTAB_KEEP) && find_mapper(t, space, huge_place(first)))
		return;
	while (mask) {
		shift = port_fls64(mask & -mask) - 1;
		page = first + shift;
		place = place_of(page);
		bits = (u32)(mask >> shift) << (page % TOUCHTAB_PAGES) & 0xffff;
		put(t, space, place, bits, who, how);
		shift += TOUCHTAB_PAGES - page % TOUCHTAB_PAGES;
		mask = shift < 64 ? mask >> shift << shift : 0;
	}
}

void touchtab_put_huge(struct touchtab *t, u32 space, u64 page, u32 who, u32 how)
{
	const u64 place = huge_place(page);
	u32 i;

	put(t, space, place, 1, who, how);
	if (how & TOUCHTAB_KEEP)
		return;
	/* nothing is left of the small ones in its place */
	for (i = 0; i < PLACES_OF_HUGE; i++)
		drop(t, space, place - 1 + i * 2, NULL);
}

/* --- moving ------------------------------------------------------------------- */

/*
 * One place of small pages, from page @from on, @nr of them: to @to.  @under: whose those
 * are that nobody mapped one by one.
 */
static void move_place(struct touchtab *t, u32 space, u64 from, u64 to, u32 nr, u32 under)
{
	struct touch was;
	u32 i, who, first = from % TOUCHTAB_PAGES;
	u64 page;

	if (!drop(t, space, place_of(from), &was))
		memset(&was, 0, sizeof(was));
	for (i = 0; i < TOUCHTAB_PAGES; i++) {
		page = to + i - first;
		who = was.who[i] ? was.who[i] : under;
		if (i >= first && i < first + nr)
			put(t, space, place_of(page), 1U << (page % TOUCHTAB_PAGES), who,
			    who ? 0 : TOUCHTAB_FORGET);
		else if (was.who[i])
			put(t, space, was.place, 1U << i, was.who[i], 0);
	}
}

/*
 * A huge page may be one where it goes, if all of it does.  If not, it is split: whose its
 * parts are, or 0.
 */
static u32 split_huge(struct touchtab *t, u32 space, u64 from, u64 to, u64 nr)
{
	struct touch was;

	if (from % TOUCHTAB_REGION || to % TOUCHTAB_REGION || nr < TOUCHTAB_REGION)
		return find_mapper(t, space, huge_place(from));
	if (drop(t, space, huge_place(from), &was))
		put(t, space, huge_place(to), 1, was.who[0], 0);
	return 0;
}

u64 touchtab_move(struct touchtab *t, u32 space, u64 from, u64 to, u64 nr, u32 most)
{
	u64 done = 0, at;
	u32 n, under;

	for (; done < nr && most; most--) {
		at = from + done;
		under = split_huge(t, space, at, to + done, nr - done);
		n = TOUCHTAB_PAGES - at % TOUCHTAB_PAGES;
		if (n > nr - done)
			n = (u32)(nr - done);
		move_place(t, space, at, to + done, n, under);
		done += n;
		/* its last page, of all of them: where it was, it is no more */
		if (under && !((from + done) % TOUCHTAB_REGION) && done >= TOUCHTAB_REGION)
			drop(t, space, huge_place(at), NULL);
	}
	return done;
}

/* --- reading ------------------------------------------------------------------ */

int touchtab_read(struct touchtab *t, u32 slot, struct touch *out)
{
	struct touchtab_shard *s = &t->shards[(slot - 1) / t->per_shard];

	if (!READ_ONCE(t->slots[slot].space))
		return 0;
	port_lock(&s->lock);
	*out = t->slots[slot];
	port_unlock(&s->lock);
	return out->space != 0;
}

void touchtab_sum(const struct touchtab *t, u32 *used, u64 *refused, u64 *skipped)
{
	u32 i;

	*used = 0;
	*refused = 0;
	*skipped = 0;
	for (i = 0; i < t->nr_shards; i++) {
		*used += READ_ONCE(t->shards[i].used);
		*refused += READ_ONCE(t->shards[i].refused);
		*skipped += READ_ONCE(t->shards[i].skipped);
	}
}
