/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_PEAKTAB_H
#define _CORE_PEAKTAB_H

#include "port.h"

/*
 * What each stack has allocated, and what of it lived when most memory did: of its address
 * space, and of all.
 *
 * Events have one order: that in which they take the lock.  After each of them the bytes that
 * live are compared with the most that ever lived.  If there are more, this is a new peak, which
 * has the next number.  A stack keeps the number of the peak for which it has saved what it had.
 * An event that changes a stack first saves that, if a newer peak has come since.  So a peak
 * costs a few stores, and nothing is copied.
 *
 * One number is compared instead of two: that of all rises so far.  A stack that has seen the last
 * one is saved for the last peak of its space and of all.
 *
 * A stack that is not saved for the last peak has not changed since: it has what it had then.
 * Where there is no room for a stack, the sums and the peaks are still right.
 *
 * The caller keeps a holder of the lock from being interrupted by another user on the same
 * CPU: the module has interrupts off.
 */
#define PEAK_SPACE	0
#define PEAK_ALL	1
#define PEAK_LEVELS	2

/* An address space, or all of them. */
struct peak_level {
	u64 peak;		/* bytes that lived at most; */
	u64 left;		/* so many less live now: peak_live() */
	u64 number;		/* of the last peak: how many there were */
	u64 gone;		/* a space: 1 + the number of all's peak when it ended; or 0 */
	u32 time;		/* of the last peak, in the caller's unit */
	u32 reserved;
};

struct peak_stack {
	u64 who;		/* address space << 32 | task; 0: free */
	u32 ustack;
	u32 next;		/* slot number, 0 none; slot 0 is never used */
	u64 allocs, bytes;	/* all that was allocated, */
	u64 frees, freed_bytes;	/* and freed: the rest lives */
	u64 number[PEAK_LEVELS];	/* of the peak that is saved */
	u64 saved_blocks[PEAK_LEVELS], saved_bytes[PEAK_LEVELS];
	u64 temporary, temporary_bytes;	/* of what was allocated */
	u64 seen;		/* the table's rises, when both peaks were last saved */
	u64 reserved;		/* two cache lines */
};

/* Who allocates: peaktab_own() fills it in. */
struct peak_owner {
	struct peak_level *space;
	u64 who;
	u32 hash;
};

struct peaktab {
	port_lock_t lock;
	struct peak_level all;
	u64 rises;		/* new peaks of any level, and 1 */
	struct peak_stack *stacks;
	u32 *heads;
	u32 nr;			/* slots, number 0 included */
	u32 mask;
	u64 seed;
	u32 next_slot;		/* that was never used */
	u32 free;		/* the first of those that are free again */
	u32 used;
	u64 lost;		/* allocations whose stack has no room */
};

#define PEAKTAB_CHAIN	64	/* links followed before giving up */

static inline u64 peak_who(u32 space, u32 task)
{
	return (u64)space << 32 | task;
}

static inline u32 peak_task(const struct peak_stack *s)
{
	return (u32)READ_ONCE(s->who);
}

/* How @bytes are divided; returns those that are used. */
u64 peaktab_layout(u64 bytes, u32 *nr, u32 *nr_heads);

/* All memory zeroed; @nr_heads is a power of two. */
void peaktab_init(struct peaktab *t, struct peak_stack *stacks, u32 nr, u32 *heads,
		  u32 nr_heads, u32 seed);

void peaktab_own(const struct peaktab *t, struct peak_owner *o, struct peak_level *space,
		 u64 who);

static inline u64 peak_live(const struct peak_level *l)
{
	return l->peak - l->left;
}

/* What is freed: @slot is what peaktab_add() returned for it. */
struct peak_gone {
	u64 size;
	u32 slot;
	u32 temporary;
};

/**
 * peaktab_add() - memory is allocated
 * @gone:	what is freed in the same moment, by realloc(); or NULL
 * @time:	now
 *
 * Return: the slot of its stack, to be kept with the block; 0: there is no room for it.
 */
u32 peaktab_add(struct peaktab *t, const struct peak_owner *o, u32 ustack, u64 size,
		const struct peak_gone *gone, u32 time);

/* It is freed. */
void peaktab_remove(struct peaktab *t, struct peak_level *space, const struct peak_gone *gone);

/* An address space has ended, and all that lived in it with it. */
void peaktab_end(struct peaktab *t, struct peak_level *space);

/* What a stack did, and what it had at the peaks. */
struct peak_told {
	u32 space, task, ustack;
	u64 allocs, bytes, frees, freed_bytes, temporary, temporary_bytes;
	u64 peak_blocks[PEAK_LEVELS], peak_bytes[PEAK_LEVELS];
};

/* The level of a space; NULL: there is no such space any more. */
typedef const struct peak_level *(*peak_space_fn)(void *ctx, u32 space);

/*
 * The stacks from slot *@slot on, @most at most: how many; *@slot is where to go on.  0: there
 * are no more.  What one call returns is of one moment.
 */
u32 peaktab_read(struct peaktab *t, peak_space_fn space, void *ctx, u32 *slot,
		 struct peak_told *out, u32 most);

/*
 * No block of the space @id is left, and it will be forgotten.  Its stacks that had nothing at
 * the last peak of all make room.  Looks at @most slots, from *@slot on; returns whether there
 * are more.
 */
int peaktab_forget(struct peaktab *t, const struct peak_level *space, u32 id, u32 *slot,
		   u32 most);

/* All spaces' level, as it is in one moment. */
void peaktab_all(struct peaktab *t, struct peak_level *out);

/* A space's. */
void peaktab_space(struct peaktab *t, const struct peak_level *space, struct peak_level *out);

#endif
