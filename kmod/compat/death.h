/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_DEATH_H
#define _COMPAT_DEATH_H

#include <linux/types.h>

struct task_struct;

struct memtap_task_work {
	struct callback_head head;
	void (*fn)(struct memtap_task_work *work);
};

/**
 * memtap_deaths_watch() - tell of signals that are going to end a process
 * @fn:	in atomic context, under the siglock of @task and RCU.  @all: every thread of
 *	the process is told to end with it, at once; else @task alone has the signal
 *
 * Signals that a debugger may take away are left out, and those that wait until the
 * process lets them through; but not what a thread sends to itself alone.
 *
 * Return: -EOPNOTSUPP where memtap_task_work_add() does not work; -ENOMEM.  Once at a
 * time; sleeps.
 */
int memtap_deaths_watch(void (*fn)(struct task_struct *task, bool all));
/* False: it could not be taken away, see memtap_tracepoint_unregister(). */
bool memtap_deaths_unwatch(void (*fn)(struct task_struct *task, bool all));
/* Could it ever work? */
bool memtap_deaths_possible(void);

/* The threads of @task's process, under its siglock; all of them, or @nr. */
u32 memtap_threads_of(struct task_struct *task, struct task_struct **threads, u32 nr);

/*
 * @task calls @fn before it looks at its signals; there it may sleep.  False: it will
 * not any more.  The module is not to go away before @fn has returned: whoever counts
 * those that are under way calls memtap_task_work_sync() after the last of them.
 */
bool memtap_task_work_add(struct task_struct *task, struct memtap_task_work *work,
			  void (*fn)(struct memtap_task_work *work));
void memtap_task_work_sync(void);

/* Is its memory wanted by the OOM killer? */
bool memtap_oom_victim(struct task_struct *task);

#endif
