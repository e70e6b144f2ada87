/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_WAITS_INT_H
#define _MEMTAP_WAITS_INT_H

#include <linux/spinlock.h>

#include "hooks/reclaim.h"

struct memtap_hook;

/* What was seen since its hook was attached last. */
struct wait_book {
	raw_spinlock_t lock;
	struct memtap_waits waits;
};

#define MEMTAP_WAIT_BOOK(name)	{ .lock = __RAW_SPIN_LOCK_UNLOCKED((name).lock) }

/* Nobody is adding. */
void memtap_wait_book_begin(struct wait_book *b);

/* current waited from @from until @now, in ns; @one says so.  In any context but an NMI. */
void memtap_wait_add(struct wait_book *b, const char *event, u64 from, u64 now,
		     struct memtap_wait *one);

/* Calls @fn for @one if it took longer than @ns; memtap_wait_limit() says both, 0: never. */
void memtap_wait_notify(const struct memtap_wait *one);
void memtap_wait_limit(u64 ns, void (*fn)(const struct memtap_wait *w));

/* Those of one file each; @which is one of its own. */
void memtap_reclaim_book(u32 which, struct memtap_hook **hook, struct wait_book **book);
void memtap_high_book(struct memtap_hook **hook, struct wait_book **book);
void memtap_swap_book(struct memtap_hook **hook, struct wait_book **book);

#endif
