/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_PEAKTAB_RUN_H
#define _CORE_PEAKTAB_RUN_H

#include "peaktab.h"

/*
 * The common way of peaktab_add() and peaktab_remove(), to be compiled into who calls them: nobody
 * else has the lock, the stack is the first of its chain, and nothing has to be saved.  It has no
 * call, so that no register is kept for one.  Otherwise the lock is given back, and the others are
 * called.
 */

/* Numbers of stacks are dense, so those of an owner meet no other of the same. */
static __always_inline u32 peaktab_head(const struct peaktab *t, u32 hash, u32 ustack)
{
	return (hash + ustack) & t->mask;
}

/* Under the lock: is an allocation only to be counted, in *@slot? */
static __always_inline u32 peaktab_ready(const struct peaktab *t, const struct peak_owner *o,
					 u32 ustack, u64 size, u32 *slot)
{
	const struct peak_stack *s;

	*slot = t->heads[peaktab_head(t, o->hash, ustack)];
	s = &t->stacks[*slot];
	return likely(s->who == o->who && s->ustack == ustack && s->seen == t->rises &&
		      o->space->left >= size && t->all.left >= size);
}

static __always_inline void peaktab_came(struct peaktab *t, struct peak_level *space, u32 slot,
					 u64 size)
{
	struct peak_stack *s = &t->stacks[slot];

	space->left -= size;
	t->all.left -= size;
	s->allocs++;
	s->bytes += size;
}

/* The same of a free. */
static __always_inline u32 peaktab_saved(const struct peaktab *t, u32 slot)
{
	return likely(t->stacks[slot].seen == t->rises);
}

static __always_inline void peaktab_went(struct peaktab *t, struct peak_level *space, u32 slot,
					 u64 size, u32 temporary)
{
	struct peak_stack *s = &t->stacks[slot];

	space->left += size;
	t->all.left += size;
	s->frees++;
	s->freed_bytes += size;
	if (unlikely(temporary)) {
		s->temporary++;
		s->temporary_bytes += size;
	}
}

#endif
