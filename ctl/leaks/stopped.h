/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _STOPPED_H
#define _STOPPED_H

#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

#include "uapi/memtap.h"

/*
 * Stop all threads of a process by ptrace() (SEIZE and INTERRUPT), so that its memory does not
 * change while it is read.  Nothing is written into the process, and no signal is sent.  A system
 * call that a thread sleeps in is restarted, or fails with EINTR if it does so for a debugger,
 * too.
 *
 * All functions must be called by one thread, which is the tracer for the kernel.  When that
 * thread ends in any way, the process continues.  The thread should end soon: a thread that could
 * not be stopped is detached only then.
 */
struct stopped;

/*
 * Until @deadline_ns (CLOCK_MONOTONIC).  0; -EBUSY: somebody else traces it, @tracer is
 * who, or 0; -ESRCH: it has ended; -ETIMEDOUT: a thread does not stop, it is in the middle
 * of something in the kernel, @tracer is which one, or 0.  Unless 0, nobody is stopped.
 */
int stopped_begin(pid_t pid, __u64 deadline_ns, struct stopped **out, pid_t *tracer);
/* The sentence for that, of thread @tid. */
void stopped_why_stuck(char *text, size_t len, pid_t pid, pid_t tid);
/* About how long it takes to stop so many, and to let them go on. */
__u64 stopped_estimate(size_t threads);
/* How many it has now. */
size_t stopped_count(pid_t pid);
/* By DWARF's numbers; how many: MEMTAP_HELD_REGS, or 0 of who is not stopped. */
size_t stopped_regs(void *stopped, pid_t tid, __u64 regs[MEMTAP_HELD_REGS]);
/* Where its own block is, as a struct reach_regs has it. */
__u64 stopped_base(void *stopped, pid_t tid);
/* What is in its other registers, word by word: how many of @room. */
size_t stopped_vectors(void *stopped, pid_t tid, __u64 *words, size_t room);
size_t stopped_threads(const struct stopped *s);
/* They go on; a signal that came meanwhile is theirs. */
void stopped_end(struct stopped *s);

/* Who traces it, or 0. */
pid_t stopped_by(pid_t pid);

#endif
