/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_MAPSET_H
#define _CORE_MAPSET_H

#include "port.h"

/*
 * Live mappings: disjoint ranges of address spaces, each with who mapped it.  A
 * balanced tree (a treap: depth about 2 log2 n, whatever the order) over a
 * preallocated pool; ordered by (space, start).
 *
 * One writer or reader at a time: the caller has a lock.  Recursion-free; a loop
 * goes down the tree once for each range that is taken away.  Where the tree is
 * deeper than MAPSET_DEPTH, which has no likelihood, nothing is added.
 */
struct mapping {
	u64 start;
	u64 end;
	u32 space;
	u32 ustack;
	u32 task;
	u32 birth;
	u16 event;
	u16 flags;
	u32 left, right;	/* nodes, 0 none; node 0 is never used */
	u32 priority;
};

#define MAPSET_DEPTH	128

struct mapset {
	struct mapping *nodes;
	u32 nr;			/* nodes, number 0 included */
	u32 root;
	u32 free;		/* first free node, linked by left */
	u32 next_node;		/* that nobody had */
	u32 used, most;		/* now, and most at one time */
	u32 random;
};

/* What was taken away: [0] others, [1] with one of the flags of @mark. */
struct mapset_gone {
	u32 ranges[2];		/* that are gone, each when its last byte is */
	u64 bytes[2];		/* of all that was taken away, parts included */
	u64 lost;		/* bytes that should have stayed, but a range had
				 * to be split and there was no node */
};

/* @nodes zeroed, @nr of them >= 2. */
void mapset_init(struct mapset *t, struct mapping *nodes, u32 nr, u32 seed);

/**
 * mapset_add() - this is mapped now; whatever was there is gone
 * @m:		start < end, space, ustack, task, birth, event, flags
 * @mark:	flags that tell two kinds apart, in @gone
 * @gone:	raised by what was replaced
 *
 * Return: 1, or 0: no room; what was there is gone all the same.
 */
int mapset_add(struct mapset *t, const struct mapping *m, u32 mark,
	       struct mapset_gone *gone);

/* Nothing is mapped there any more.  Ranges are cut, or split in two. */
void mapset_remove(struct mapset *t, u32 space, u64 start, u64 end, u32 mark,
		   struct mapset_gone *gone);

/*
 * Remove @max ranges of @space at most: how many; fewer than @max: there are no
 * more of it.
 */
u32 mapset_purge(struct mapset *t, u32 space, u32 max, u32 mark,
		 struct mapset_gone *gone);

/*
 * The first range that starts at or after (space, start), be it of a later space;
 * or NULL.  The one after @m: mapset_from(t, m->space, m->start + 1).
 */
const struct mapping *mapset_from(const struct mapset *t, u32 space, u64 start);

/* The first range of @space that has a byte at or after @addr, or NULL. */
const struct mapping *mapset_at(struct mapset *t, u32 space, u64 addr);

#endif
