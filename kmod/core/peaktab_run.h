/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_PEAKTAB_RUN_H
#define _CORE_PEAKTAB_RUN_H

#include "peaktab.h"

/* peaktab_add() and peaktab_remove(), to be compiled into who calls them. */

/* peaktab.c, under the lock: the slot of a stack, which may be new; 0: there is no room */
u32 peaktab_find_slot(struct peaktab *t, u64 who, u32 ustack);
/* The stack is about to change: keeps what it had at the last peaks, */
void peaktab_save(const struct peaktab *t, const struct peak_level *space, struct peak_stack *s);
/* but where this is a new one. */
void peaktab_rise(struct peaktab *t, struct peak_level *space, struct peak_stack *s, u32 time);

/* Where the stack is, or is now; *@guess: where the thread's last one was.  0: no room. */
static __always_inline u32 peaktab_find(struct peaktab *t, u64 who, u32 ustack, u32 *guess)
{
	const struct peak_stack *s = &t->stacks[*guess];

	if (likely(s->who == who && s->ustack == ustack))
		return *guess;
	*guess = peaktab_find_slot(t, who, ustack);
	return *guess;
}

/* A new peak of one of both, or the first change of this stack since the last one? */
static __always_inline u32 peaktab_is_stale(const struct peaktab *t,
					    const struct peak_level *space,
					    const struct peak_stack *s)
{
	return unlikely(s->number[PEAK_SPACE] != space->number) ||
	       unlikely(s->number[PEAK_ALL] != t->all.number);
}

static __always_inline void peaktab_come(struct peaktab *t, struct peak_level *space,
					 struct peak_stack *s, u64 size, u32 time)
{
	space->bytes += size;
	t->all.bytes += size;
	if (unlikely(space->bytes > space->peak) || unlikely(t->all.bytes > t->all.peak) ||
	    peaktab_is_stale(t, space, s))
		peaktab_rise(t, space, s, time);
	s->allocs++;
	s->bytes += size;
}

static __always_inline void peaktab_go(struct peaktab *t, struct peak_level *space,
				       const struct peak_gone *gone)
{
	/* slot 0 stands for all stacks without room: nobody reads what it has */
	struct peak_stack *s = &t->stacks[gone->slot];

	space->bytes -= gone->size;
	t->all.bytes -= gone->size;
	if (peaktab_is_stale(t, space, s))
		peaktab_save(t, space, s);
	s->frees++;
	s->freed_bytes += gone->size;
	if (unlikely(gone->temporary)) {
		s->temporary++;
		s->temporary_bytes += gone->size;
	}
}

static __always_inline u32 peaktab_add_here(struct peaktab *t, struct peak_level *space,
					    u64 who, u32 ustack, u64 size,
					    const struct peak_gone *gone, u32 time, u32 *guess)
{
	u32 slot;

	port_lock(&t->lock);
	if (unlikely(gone))
		peaktab_go(t, space, gone);
	slot = peaktab_find(t, who, ustack, guess);
	if (unlikely(!slot))
		t->lost++;
	peaktab_come(t, space, &t->stacks[slot], size, time);
	port_unlock(&t->lock);
	return slot;
}

static __always_inline void peaktab_remove_here(struct peaktab *t, struct peak_level *space,
						const struct peak_gone *gone)
{
	port_lock(&t->lock);
	peaktab_go(t, space, gone);
	port_unlock(&t->lock);
}

#endif
