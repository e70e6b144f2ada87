/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_RECLAIM_H
#define _MEMTAP_RECLAIM_H

#include <linux/sched.h>
#include <linux/types.h>

#include "port/uapi.h"

#define MEMTAP_WAITS_WORST	16
#define MEMTAP_WAITS_SECONDS	180
#define MEMTAP_WAITERS		64

enum {
	MEMTAP_WAITS_DIRECT, MEMTAP_WAITS_MEMCG, MEMTAP_WAITS_HIGH, MEMTAP_WAITS_COMPACTION,
	MEMTAP_WAITS_SWAP, MEMTAP_WAITS_KINDS,
};

/* Somebody waited for memory. */
struct memtap_wait {
	const char *event;
	u64 ns;
	u64 at_ns;			/* when it was over */
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

struct memtap_wait_second {
	u64 second;			/* of CLOCK_MONOTONIC */
	u64 ns;
	u32 count;
};

/* What one process waited, since @since_ns, when its first wait that is in here was over. */
struct memtap_waiter {
	u64 since_ns, start_ns;		/* start_ns: of the process */
	u64 count, ns;
	u64 longest_ns, longest_at_ns;
	u64 at_ns;			/* when the last one was over */
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

/* All of one kind since the hook was attached; ns. */
struct memtap_waits {
	u64 since_ns;
	u64 count;
	u64 ns;
	u64 missed;			/* not seen; of memtap_waits_get() */
	u32 nr_worst, nr_waiters;
	struct memtap_wait worst[MEMTAP_WAITS_WORST];	/* the longest first */
	u32 hist[MEMTAP_HIST_BUCKETS];
	struct memtap_wait_second seconds[MEMTAP_WAITS_SECONDS];	/* by second modulo that */
	struct memtap_waiter waiters[MEMTAP_WAITERS];	/* those that waited last */
};

/* MEMTAP_WAITS_*: its event's name; NULL: there are no more.  *@on: it is attached. */
const char *memtap_waits_get(u32 which, struct memtap_waits *to, bool *on);

/*
 * From now on @fn is called for each wait for reclaim, or above memory.high, that took longer
 * than @ns, in the context that waited; 0: not any more.  May sleep; one caller at a time.
 * Returns an errno where a hook cannot be attached that this kernel has.
 */
int memtap_stalls_notify(u64 ns, void (*fn)(const struct memtap_wait *w));

void memtap_reclaim_init(void);

#endif
