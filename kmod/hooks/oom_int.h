/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_OOM_INT_H
#define _MEMTAP_OOM_INT_H

/* Between oom*.c. */
#include <linux/sched.h>

#include "hooks/oom.h"

#include "compat/oom.h"

struct pt_regs;

/* Memory that several processes have, which is counted once: as names, never dereferenced. */
#define MEMTAP_OOM_SHARED	128

struct memtap_oom_shared {
	u32 nr;
	const void *at[MEMTAP_OOM_SHARED];
};

/*
 * Fills in @r, all zero but its number, from what oom_kill_process() was called with, in the
 * task that called it.  @shared, empty, is its room to work in.  @stack: becomes a copy of the
 * task's user stack.  Preemption is off; takes nobody's lock but by trying.
 */
void memtap_oom_fill(struct memtap_oom_record *r, const struct memtap_oom_call *c,
		     struct pt_regs *regs, struct memtap_oom_shared *shared,
		     struct memtap_oom_stack *stack);
/* The same of @r without a kill, at a panic: the machine; and its processes. */
void memtap_oom_fill_survey(struct memtap_oom_record *r);
void memtap_oom_fill_processes(struct memtap_oom_record *r, struct memtap_oom_shared *shared);
/* One more process that is killed with the victim. */
void memtap_oom_member(struct memtap_oom_record *r, struct task_struct *task);

/*
 * oom_stack.c: the user registers of current, which has memory, and the first bytes of its user
 * stack, without faulting.
 */
void memtap_oom_copy_stack(struct memtap_oom_stack *to, u64 nr);
/*
 * 1 + the index of @file in @files, of which there are *@nr and room for @room; 0: no room.
 * @buf: MEMTAP_PATH_BUF bytes, or NULL: its path is not asked for.
 */
u32 memtap_oom_file(struct memtap_oom_file *files, u32 *nr, u32 room, struct file *file,
		    char *buf);

/*
 * oom_later.c: what only files say.  @cgroup, its path, has to be there.  May sleep.  One at a
 * time: each takes pages.
 */
struct memtap_oom_later {
	bool memcg;
	u32 errno_is;			/* 0: it was read */
	u64 charged[MEMTAP_NR_CHARGED];
	u64 huge, huge_free, percpu;
	char cgroup[MEMTAP_OOM_LONG_PATH];
	char path[MEMTAP_OOM_LONG_PATH + 80];
	char text[8192];
};

/* @inode: of that cgroup. */
void memtap_oom_later(struct memtap_oom_later *l, u32 constraint, u64 inode);
void memtap_oom_later_to(const struct memtap_oom_later *l, struct memtap_oom_record *r);

/* oom_recent.c: what reclaim did lately, looked at now and then while the machine runs. */
void memtap_oom_recent_init(void);
void memtap_oom_recent_exit(void);
/* Into @r, since a minute ago or so. */
void memtap_oom_recent(struct memtap_oom_record *r);

#endif
