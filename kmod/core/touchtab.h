/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_TOUCHTAB_H
#define _CORE_TOUCHTAB_H

#include "port.h"

/*
 * Who touched which page: (address space, page) -> a number, of the last one that was told
 * of it.
 *
 * Preallocated.  Pages lie in places of TOUCHTAB_PAGES neighbours, 5 bytes for each of them,
 * with the index 6; a huge page is a place of its own.  Sharded by the place's hash; each
 * shard has its slots, its heads and a lock (port_lock()), held for a few dozen instructions.
 *
 * When a shard is full, a slot is taken from an address space that is gone; or else from then
 * on only a share of all memory is kept, half of what it was: that whose hash says so, in
 * regions of TOUCHTAB_REGION pages.  What is not of it goes when its slot is wanted.  So what
 * is there at the end is a sample of regions, each of which is whole.  Every loop is bounded.
 *
 * As of livetab: nobody may interrupt who is in here to come here on the same CPU.
 */
#define TOUCHTAB_PAGES		16U	/* of a place */
#define TOUCHTAB_REGION		512U	/* of a huge page, and of what is kept together */
#define TOUCHTAB_MOST_SHARE	20U

struct touch {
	u64 place;		/* page number / TOUCHTAB_PAGES * 2, + 1: a huge page */
	u32 space;		/* 0: slot is free */
	u32 next;		/* slot number, 0 none; slot 0 is never used */
	u32 who[TOUCHTAB_PAGES];	/* 0: not known; of a huge page the first one */
};

struct touchtab_shard {
	port_lock_t lock;
	u32 used;		/* slots that were ever taken */
	u32 free;		/* first one that was given back */
	u32 hand;		/* where one was looked for last */
	u64 refused;		/* pages that had no room, */
	u64 skipped;		/* or are not of the share */
	u64 reserved[4];	/* shards do not share cache lines */
};

struct touchtab {
	struct touch *slots;
	u32 *heads;
	struct touchtab_shard *shards;
	u32 per_shard;		/* slots of each */
	u32 nr_shards, nr_heads;	/* powers of two */
	u32 head_shift;		/* shard of a head: its high bits */
	u32 seed;
	u32 share;		/* of all regions 1 in 1 << share is kept */
	int (*is_gone)(const void *ctx, u32 space);	/* or NULL: none is */
	const void *ctx;
};

/* How @bytes are divided: bytes really used. */
u64 touchtab_layout(u64 bytes, u32 cpus, u32 *per_shard, u32 *nr_heads, u32 *nr_shards);
static inline u32 touchtab_slots(u32 per_shard, u32 nr_shards)
{
	return per_shard * nr_shards + 1;
}

/* All memory zeroed. */
void touchtab_init(struct touchtab *t, struct touch *slots, u32 per_shard, u32 *heads,
		   u32 nr_heads, struct touchtab_shard *shards, u32 nr_shards, u32 seed);

/* @keep: whose page it is already, stays. */
#define TOUCHTAB_KEEP	1U
/* It is nobody's any more; @who is 0. */
#define TOUCHTAB_FORGET	2U

/*
 * Where the last page went: the next one mostly goes beside it, and is not searched for.  Of one
 * CPU; all zero at first.
 */
struct touchtab_hint {
	u64 place;
	u32 space;		/* 0: nowhere yet */
	u32 slot;
	struct touchtab_shard *shard;
};

/* One page, as touchtab_put() with nothing else; @space is not 0. */
void touchtab_put_one(struct touchtab *t, struct touchtab_hint *hint, u32 space, u64 page, u32 who);
/* Of the 64 pages from @first on those in @mask. */
void touchtab_put(struct touchtab *t, u32 space, u64 first, u64 mask, u32 who, u32 how);
/* One huge page, that has @page. */
void touchtab_put_huge(struct touchtab *t, u32 space, u64 page, u32 who, u32 how);

/*
 * Pages have moved, @nr of them; what was known of the place where they are now is forgotten.
 * A part of it, that ends before @most places were looked at: how many pages.
 */
u64 touchtab_move(struct touchtab *t, u32 space, u64 from, u64 to, u64 nr, u32 most);

/* What slot @slot has, 1 .. touchtab_slots() - 1; 0: nothing. */
int touchtab_read(struct touchtab *t, u32 slot, struct touch *out);

/* Is the region of this page one that is kept with this share? */
int touchtab_of_share(u32 seed, u32 share, u32 space, u64 page);

/* Slots that were ever taken; and pages that are missing, of the share that is kept, and others. */
void touchtab_sum(const struct touchtab *t, u32 *used, u64 *refused, u64 *skipped);

#endif
