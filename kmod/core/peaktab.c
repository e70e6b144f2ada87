// SPDX-License-Identifier: GPL-2.0-only
/* Totals of stacks, and what each had when most memory was allocated. */
#include "peaktab_run.h"

#define MAX_SLOTS	(1U << 28)
#define MIX		0x9e3779b97f4a7c15ULL
#define FINAL		0xd6e8feb86659fd93ULL

/* In number[PEAK_SPACE]: its space is forgotten. */
#define FORGOTTEN	(~0ULL)

u64 peaktab_layout(u64 bytes, u32 *nr, u32 *nr_heads)
{
	u32 heads = 16;
	u64 slots;

	while (heads < MAX_SLOTS && (u64)heads * 2 * sizeof(struct peak_stack) <= bytes)
		heads *= 2;
	slots = bytes > heads * sizeof(u32) ?
		port_div64(bytes - heads * sizeof(u32), sizeof(struct peak_stack)) : 0;
	if (slots > MAX_SLOTS)
		slots = MAX_SLOTS;
	if (slots < 2)		/* number 0 and one to use */
		slots = 2;
	*nr = (u32)slots;
	*nr_heads = heads;
	return heads * sizeof(u32) + slots * sizeof(struct peak_stack);
}

void peaktab_init(struct peaktab *t, struct peak_stack *stacks, u32 nr, u32 *heads,
		  u32 nr_heads, u32 seed)
{
	memset(t, 0, sizeof(*t));
	port_lock_init(&t->lock);
	t->stacks = stacks;
	t->nr = nr;
	t->heads = heads;
	t->mask = nr_heads - 1;
	t->seed = seed * MIX;
	t->next_slot = 1;
	t->rises = 1;		/* no stack has seen it */
}

void peaktab_own(const struct peaktab *t, struct peak_owner *o, struct peak_level *space, u64 who)
{
	o->space = space;
	o->who = who;
	o->hash = (u32)(((who ^ t->seed) * FINAL) >> 32);
}

static u32 *head_of(const struct peaktab *t, u64 who, u32 ustack)
{
	struct peak_owner o;

	peaktab_own(t, &o, NULL, who);
	return &t->heads[peaktab_head(t, o.hash, ustack)];
}

/* A slot that nobody has, in a chain. */
static u32 add_stack(struct peaktab *t, u32 *head, u64 who, u32 ustack)
{
	u32 slot = t->free;
	struct peak_stack *s;

	if (slot)
		t->free = t->stacks[slot].next;
	else if (t->next_slot < t->nr)
		slot = t->next_slot++;
	if (!slot)
		return 0;
	s = &t->stacks[slot];
	memset(s, 0, sizeof(*s));
	s->who = who;
	s->ustack = ustack;
	s->next = *head;
	*head = slot;
	t->used++;
	return slot;
}

static u32 find(struct peaktab *t, const struct peak_owner *o, u32 ustack)
{
	u32 *head = &t->heads[peaktab_head(t, o->hash, ustack)], slot = *head;
	u32 left = PEAKTAB_CHAIN;
	const struct peak_stack *s;

	for (; slot; slot = s->next) {
		s = &t->stacks[slot];
		if (s->who == o->who && s->ustack == ustack)
			return slot;
		if (unlikely(!--left))
			return 0;
	}
	return add_stack(t, head, o->who, ustack);
}

static void save(struct peak_stack *s, u32 i, u64 number)
{
	if (s->number[i] == number)
		return;
	s->number[i] = number;
	s->saved_blocks[i] = s->allocs - s->frees;
	s->saved_bytes[i] = s->bytes - s->freed_bytes;
}

/* The stack is about to change: it keeps what it had at the last peaks. */
static void save_all(const struct peaktab *t, const struct peak_level *space, struct peak_stack *s)
{
	save(s, PEAK_SPACE, space->number);
	save(s, PEAK_ALL, t->all.number);
	s->seen = t->rises;
}

/*
 * Before a change as above; but of a peak that is new it keeps what it has, when it changes again.
 * Returns whether this is one.
 */
static u32 come(struct peak_level *l, struct peak_stack *s, u32 i, u64 size, u32 time)
{
	if (l->left >= size) {
		l->left -= size;
		save(s, i, l->number);
		return 0;
	}
	l->peak += size - l->left;
	l->left = 0;
	l->number++;
	l->time = time;
	return 1;
}

static void go(struct peaktab *t, struct peak_level *space, const struct peak_gone *gone)
{
	/* slot 0 stands for all stacks without room: nobody reads what it has */
	save_all(t, space, &t->stacks[gone->slot]);
	peaktab_went(t, space, gone->slot, gone->size, gone->temporary);
}

u32 peaktab_add(struct peaktab *t, const struct peak_owner *o, u32 ustack, u64 size,
		const struct peak_gone *gone, u32 time)
{
	struct peak_stack *s;
	u32 slot, rises;

	port_lock_quick(&t->lock);
	if (gone)
		go(t, o->space, gone);
	slot = find(t, o, ustack);
	if (!slot)
		t->lost++;
	s = &t->stacks[slot];
	rises = come(o->space, s, PEAK_SPACE, size, time);
	rises += come(&t->all, s, PEAK_ALL, size, time);
	s->seen = t->rises;
	t->rises += rises;
	s->allocs++;
	s->bytes += size;
	port_unlock_quick(&t->lock);
	return slot;
}

void peaktab_remove(struct peaktab *t, struct peak_level *space, const struct peak_gone *gone)
{
	port_lock_quick(&t->lock);
	go(t, space, gone);
	port_unlock_quick(&t->lock);
}

void peaktab_end(struct peaktab *t, struct peak_level *space)
{
	port_lock_quick(&t->lock);
	if (!space->gone) {
		t->all.left += peak_live(space);
		space->gone = t->all.number + 1;
	}
	port_unlock_quick(&t->lock);
}

/* --- reading ---------------------------------------------------------------- */

/* What it had at the last peak of its space, or of all. */
static void at_peak(const struct peaktab *t, const struct peak_level *space,
		    const struct peak_stack *s, u32 i, u64 *blocks, u64 *bytes)
{
	const struct peak_level *l = i == PEAK_ALL ? &t->all : space;

	*blocks = *bytes = 0;
	if (l && s->number[i] == l->number) {
		*blocks = s->saved_blocks[i];
		*bytes = s->saved_bytes[i];
		return;
	}
	/* it has ended; what was saved was for a peak before */
	if (!space || (i == PEAK_ALL && space->gone && l->number >= space->gone))
		return;
	*blocks = s->allocs - s->frees;
	*bytes = s->bytes - s->freed_bytes;
}

static void tell(const struct peaktab *t, const struct peak_level *space,
		 const struct peak_stack *s, struct peak_told *out)
{
	u32 i;

	out->space = (u32)(s->who >> 32);
	out->task = (u32)s->who;
	out->ustack = s->ustack;
	out->allocs = s->allocs;
	out->bytes = s->bytes;
	out->frees = s->frees;
	out->freed_bytes = s->freed_bytes;
	out->temporary = s->temporary;
	out->temporary_bytes = s->temporary_bytes;
	for (i = 0; i < PEAK_LEVELS; i++)
		at_peak(t, space, s, i, &out->peak_blocks[i], &out->peak_bytes[i]);
}

u32 peaktab_read(struct peaktab *t, peak_space_fn space, void *ctx, u32 *slot,
		 struct peak_told *out, u32 most)
{
	const struct peak_stack *s;
	u32 nr = 0;

	port_lock_quick(&t->lock);
	if (!*slot)
		*slot = 1;
	for (; nr < most && *slot < t->next_slot; (*slot)++) {
		s = &t->stacks[*slot];
		if (s->who)
			tell(t, s->number[PEAK_SPACE] == FORGOTTEN ? NULL :
			     space(ctx, (u32)(s->who >> 32)), s, &out[nr++]);
	}
	port_unlock_quick(&t->lock);
	return nr;
}

void peaktab_all(struct peaktab *t, struct peak_level *out)
{
	peaktab_space(t, &t->all, out);
}

void peaktab_space(struct peaktab *t, const struct peak_level *space, struct peak_level *out)
{
	port_lock_quick(&t->lock);
	*out = *space;
	port_unlock_quick(&t->lock);
}

/* --- making room ------------------------------------------------------------ */

static void drop(struct peaktab *t, u32 slot)
{
	struct peak_stack *s = &t->stacks[slot];
	u32 *link = head_of(t, s->who, s->ustack), left = PEAKTAB_CHAIN + 1;

	while (*link && *link != slot && --left)
		link = &t->stacks[*link].next;
	if (*link != slot)
		return;
	*link = s->next;
	s->who = 0;
	s->next = t->free;
	t->free = slot;
	t->used--;
}

/* It keeps what it had at the last peak of all, until there is another. */
static void forget(struct peaktab *t, const struct peak_level *space, u32 slot)
{
	struct peak_stack *s = &t->stacks[slot];
	u64 blocks, bytes;

	at_peak(t, space, s, PEAK_ALL, &blocks, &bytes);
	if (!blocks) {
		drop(t, slot);
		return;
	}
	s->number[PEAK_SPACE] = FORGOTTEN;
	s->number[PEAK_ALL] = t->all.number;
	s->saved_blocks[PEAK_ALL] = blocks;
	s->saved_bytes[PEAK_ALL] = bytes;
}

int peaktab_forget(struct peaktab *t, const struct peak_level *space, u32 id, u32 *slot,
		   u32 most)
{
	const struct peak_stack *s;
	int more_slots;

	port_lock_quick(&t->lock);
	if (!*slot)
		*slot = 1;
	for (; most && *slot < t->next_slot; (*slot)++, most--) {
		s = &t->stacks[*slot];
		if (s->who && (u32)(s->who >> 32) == id)
			forget(t, space, *slot);
		else if (s->who && s->number[PEAK_SPACE] == FORGOTTEN &&
			 s->number[PEAK_ALL] != t->all.number)
			drop(t, *slot);
	}
	more_slots = *slot < t->next_slot;
	port_unlock_quick(&t->lock);
	return more_slots;
}
