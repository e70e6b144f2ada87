/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_OOM_INT_H
#define _MEMTAP_OOM_INT_H

/* Between oom*.c. */
#include <linux/sched.h>

#include "hooks/oom.h"

#include "compat/oom.h"

struct pt_regs;

/*
 * Fills in @r, all zero but its number, from what oom_kill_process() was called with, in
 * the task that called it.  Preemption is off; takes nobody's lock but by trying.
 */
void memtap_oom_take(struct memtap_oom_record *r, const struct memtap_oom_call *c,
		     struct pt_regs *regs);
/* One more process that is killed with the victim. */
void memtap_oom_member(struct memtap_oom_record *r, struct task_struct *task);

/* oom_recent.c: what reclaim did lately, looked at now and then while the machine runs. */
void memtap_oom_recent_init(void);
void memtap_oom_recent_exit(void);
/* Into @r, since a minute ago or so. */
void memtap_oom_recent(struct memtap_oom_record *r);

#endif
