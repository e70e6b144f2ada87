/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _REACH_PROCESS_H
#define _REACH_PROCESS_H

#include <sys/types.h>

#include "snap/snap.h"

/*
 * Classify the live blocks of a process by its memory, which should not change meanwhile.  If the
 * process was not started with the session (or is a forked copy), it has blocks that were not
 * recorded.  Then all memory of malloc is treated as used, and fewer blocks are found to be lost.
 *
 * @found is malloc'ed, also for no blocks.  -ESRCH: the snapshot has no blocks of this process;
 * other errnos come from reading.
 */
struct reach_process;

/* Who can tell the registers of a thread of it, by DWARF's numbers; returns how many. */
struct reach_regs {
	size_t (*read)(void *ctx, pid_t tid, __u64 regs[MEMTAP_HELD_REGS]);
	/* Those of vectors, word by word; may be NULL. */
	size_t (*vectors)(void *ctx, pid_t tid, __u64 *words, size_t room);
	/* Where its own block is (x86-64: fs); 0: not known.  May be NULL. */
	__u64 (*base)(void *ctx, pid_t tid);
	void *ctx;
	bool dies;			/* by a signal: it was not in a call */
	bool lives;			/* it was stopped anywhere, and will go on */
};

/*
 * What the snapshot says of it, after which that is not needed any more.  @space: its address
 * space, or 0: the one that @pid has, who may have had others.  @tid: a thread that is there and
 * waits: the first one may have ended before the others.
 */
int reach_process_new(const struct snap *s, __u32 space, pid_t pid, pid_t tid,
		      struct reach_process **p);
/*
 * Its memory is read from what copy_stopped() has taken, not from where it is, which may go
 * on then; @c is needed until it is freed.  What was read then is the layout, too.
 */
struct copy;

void reach_process_use(struct reach_process *p, struct copy *c);
/* Gives the layout back, for who else reads the copy. */
void reach_process_used(struct reach_process *p, struct copy *c);
/*
 * May be called once.  -ESRCH: it ended meanwhile, nothing is known; -ETIMEDOUT: see
 * below.  Of a copy: -EAGAIN: constants of its files were needed, and are gone; -ENXIO: it has
 * blocks where nothing was copied.  @regs may be NULL.
 */
int reach_process_scan(struct reach_process *p, const struct reach_regs *regs,
		       struct snap_reach **found, size_t *nr);
/* Reads nothing more after @deadline_ns (CLOCK_MONOTONIC): the scan fails then. */
void reach_process_until(struct reach_process *p, __u64 deadline_ns);
/* What is swapped out is not read: no block is definitely lost, then. */
void reach_process_resident(struct reach_process *p);
/* Bytes that were read. */
__u64 reach_process_bytes(const struct reach_process *p);
/* What of it was not looked at, and why: bytes; after the scan. */
struct reach_left {
	__u64 devices;			/* mapped */
	__u64 locked;			/* touched, and must not be read now, not even by it */
	__u64 failed;			/* could not be read, or went meanwhile */
	__u64 swapped;			/* out, and was not to be read */
};

void reach_process_left(struct reach_process *p, struct reach_left *left);
void reach_process_free(struct reach_process *p);

#endif
