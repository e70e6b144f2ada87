/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_LIVETAB_H
#define _CORE_LIVETAB_H

#include "port.h"

/*
 * What is allocated now: (address space, address) -> block.
 *
 * Preallocated.  Sharded by the key's hash: each shard has a lock of its own
 * (port_lock()), held for a few dozen instructions, and a list of free slots that
 * it refills from a pool of all, in batches, and at last from its neighbours.
 * Every loop is bounded.  The caller keeps a holder of a lock from being
 * interrupted by another user on the same CPU (the module: interrupts off, under
 * memtap_enter(), never from an NMI).
 *
 * 40 bytes a block and 4 to 8 of index.
 */
struct live {
	u64 addr;
	u64 size;
	u32 next;		/* slot number, 0 none; slot 0 is never used */
	u32 space;		/* 0: slot is free */
	u32 ustack;
	u32 task;
	u32 birth;		/* in the caller's unit */
	u16 event;
	u16 flags;
};

struct livetab_shard {
	port_lock_t lock;
	u32 free;		/* first free slot */
	u32 used;		/* blocks in this shard */
	u32 next_slot;		/* of its batch */
	u32 end_slot;
	u32 donor;		/* shard that had a free slot the last time */
	u32 reserved[10];	/* shards do not share cache lines */
};

#define LIVETAB_BATCH		32	/* slots taken from the pool at once */
#define LIVETAB_CHAIN		64	/* blocks in one chain, at most: more do not
					 * fit (a seeded hash gets nowhere near) */
#define LIVETAB_STEAL		64	/* shards that are asked for a free slot */

struct livetab {
	struct live *slots;
	u32 *heads;
	struct livetab_shard *shards;
	u32 nr;			/* slots, number 0 included */
	u32 head_mask;
	u32 shard_mask;
	u32 shard_shift;	/* shard of a head: its high bits, so that those of
				 * one shard lie side by side */
	u32 seed;
	u32 pool;		/* next slot nobody had; atomic, may run past nr */
};

/*
 * How @bytes are divided; @cpus decides how many shards.  Numbers of heads and
 * shards are powers of two, heads >= shards.  Returns bytes really used, which
 * are more than @bytes only where these are no room for one block.
 */
u64 livetab_layout(u64 bytes, u32 cpus, u32 *nr, u32 *nr_heads, u32 *nr_shards);

/* All memory zeroed. */
void livetab_init(struct livetab *t, struct live *slots, u32 nr, u32 *heads,
		  u32 nr_heads, struct livetab_shard *shards, u32 nr_shards,
		  u32 seed);

/**
 * livetab_put() - this block lives now
 * @b:		its key (@addr, @space), size, ustack, task, birth, event, flags
 * @was:	what had that key until now, if anything did
 *
 * Return: LIVETAB_NEW, LIVETAB_REPLACED (*was is set), or LIVETAB_FULL: nothing
 * was changed.
 */
#define LIVETAB_FULL		0
#define LIVETAB_NEW		1
#define LIVETAB_REPLACED	2
int livetab_put(struct livetab *t, const struct live *b, struct live *was);

/* It lives no more.  1, and what it was in *out; or 0: not known. */
int livetab_take(struct livetab *t, u32 space, u64 addr, struct live *out);

/* The same, if it has this size. */
int livetab_take_sized(struct livetab *t, u32 space, u64 addr, u64 size, struct live *out);

/* Like it, but it stays. */
int livetab_get(struct livetab *t, u32 space, u64 addr, struct live *out);

/*
 * Remove all blocks of @space from shard @shard (0 .. shard_mask): how many, and
 * *bytes is raised by their sizes.  Holds that shard's lock all the time.
 */
u32 livetab_purge(struct livetab *t, u32 shard, u32 space, u64 *bytes);

/*
 * Copy the blocks of head number @head to @out, which has room for LIVETAB_CHAIN:
 * how many.  A walk over all heads meets each block that lives all the while
 * exactly once.
 */
u32 livetab_read(struct livetab *t, u32 head, struct live *out);

/* Blocks in it now. */
u32 livetab_used(const struct livetab *t);

/*
 * Blocks that were in it at one time, at most: slots that were ever taken.  A shard
 * takes another one while its neighbours have some to spare, so it may be some more.
 */
u32 livetab_max(const struct livetab *t);

#endif
