/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_PAGETAB_H
#define _CORE_PAGETAB_H

#include "livetab.h"

/*
 * Pages that are allocated, in a table of live blocks: a block is a power of two of pages, at
 * a multiple of its size, and may be given back in parts.
 *
 * What of a block is left then lies in the table as blocks of their own, each as large as
 * its place allows.  Blocks that are cut, and the parts of one, are under a lock of their
 * place, so that two who give back parts of the same block at once do not miss each other;
 * what is given back as it was handed out needs no lock but the table's.
 *
 * As of livetab: nobody may interrupt who is in here to come here on the same CPU.
 */
#define PAGETAB_ORDERS	14		/* 0 .. 13: as much as any kernel has */
#define PAGETAB_LOCKS	128		/* a power of two */

/* CPUs that give back pages of different places do not meet. */
struct pagetab_lock {
	port_lock_t lock;
} __attribute__((__aligned__(64)));

struct pagetab {
	struct livetab *table;
	u32 space;			/* of the table, for pages alone */
	u32 shift;			/* of a page */
	u32 first_event;		/* a block's event is this plus its order */
	u32 cuttable;			/* orders of which there may be a block to be cut */
	port_lock_t adds;		/* of .cuttable */
	struct pagetab_lock locks[PAGETAB_LOCKS];
};

void pagetab_init(struct pagetab *p, struct livetab *t, u32 space, u32 shift, u32 first_event);

/* Before a block of @order is put that may be given back in parts; order 0 cannot. */
void pagetab_may_cut(struct pagetab *p, u32 order);

/* What became of a block when a part of it was given back. */
struct pagetab_cut {
	struct live was;		/* the block that was cut */
	u32 parts;			/* that it became, the one that was given back too */
	u32 lost;			/* of them, those that had no room, */
	u64 lost_bytes;			/* and their size */
};

/**
 * pagetab_take() - these pages are given back
 * @addr, @order: what is given back
 * @out:	what that was in the table; of a part the size is its own
 * @cut:	PAGETAB_CUT: what became of the rest
 *
 * Return: PAGETAB_UNKNOWN: it was not there; PAGETAB_WHOLE: it was, and is all; or
 * PAGETAB_CUT.
 */
#define PAGETAB_UNKNOWN	0
#define PAGETAB_WHOLE	1
#define PAGETAB_CUT	2
int pagetab_take(struct pagetab *p, u64 addr, u32 order, struct live *out,
		 struct pagetab_cut *cut);

#endif
