/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _COPY_H
#define _COPY_H

#include "leaks/reach_process.h"

/*
 * Copy the memory of a process as it is at one moment, with the shortest possible stop.  Most is
 * copied while the process runs.  Then the process is stopped, and the pages that changed since
 * are copied, by the kernel's soft-dirty bits; without these bits, everything is copied
 * again.  The analysis runs on the copy later.  Nothing is written into the process.
 */
struct copy;

/*
 * Keeps @most bytes at most.  @swapped: also reads what is swapped out, which swaps it in.
 * -ENOMEM
 */
int copy_new(pid_t pid, __u64 most, bool swapped, struct copy **c);
/*
 * While it runs.  -ENOBUFS: it has more; -ENOMEM; -ETIMEDOUT: after @deadline_ns; -ESRCH; -EIO:
 * it cannot be known which of its pages are there.
 */
int copy_running(struct copy *c, __u64 deadline_ns);
/*
 * While all of its threads are stopped; may be called again.  As above.  What changes between
 * this and copy_running(), the less the shorter.
 */
int copy_stopped(struct copy *c, const struct reach_regs *regs, __u64 deadline_ns);

struct copy_told {
	__u64 copied;			/* bytes while it ran, */
	__u64 again;			/* and while it was stopped: changed, or new */
	/* the same, tried while it ran: what will have to be read, and how long that takes */
	__u64 again_now, again_ns;
	__u64 swapped;			/* that were left out, since they are swapped out */
	const char *why;		/* not only what changed: all of it again; or NULL */
	struct reach_left left;
};

const struct copy_told *copy_told(const struct copy *c);
void copy_free(struct copy *c);

#define COPY_NS		60000000000ULL	/* while it runs; nobody waits that long for less */

/* Why there can be no copy for this error of the above, if there is another way; or NULL. */
const char *copy_why_not(int err);

/* How much memory of ours a copy may take: half of what there is. */
__u64 copy_max_bytes(void);

#endif
