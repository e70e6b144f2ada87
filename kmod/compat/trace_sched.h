/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of the scheduler.  TP_X(name, fn) defines the probe "name" with
 * the prototype that this kernel uses; it calls fn().
 */
#ifndef _COMPAT_TRACE_SCHED_H
#define _COMPAT_TRACE_SCHED_H

#include <trace/events/sched.h>

#include "compat/tracepoint.h"

/* fn(parent, child); the same since v3.10 */
#define TP_SCHED_PROCESS_FORK(name, fn)					\
static void name(void *data, struct task_struct *parent,		\
		 struct task_struct *child)				\
{									\
	fn(parent, child);						\
}									\
MEMTAP_TP_CHECK(sched_process_fork, name);

/* fn(task), which has its new program now; the same since v3.10 */
struct linux_binprm;
#define TP_SCHED_PROCESS_EXEC(name, fn)					\
static void name(void *data, struct task_struct *task, pid_t old_pid,	\
		 struct linux_binprm *bprm)				\
{									\
	fn(task);							\
}									\
MEMTAP_TP_CHECK(sched_process_exec, name);

/* fn(task), when nobody can find it any more; the same since v3.10 */
#define TP_SCHED_PROCESS_FREE(name, fn)					\
static void name(void *data, struct task_struct *task)			\
{									\
	fn(task);							\
}									\
MEMTAP_TP_CHECK(sched_process_free, name);

#endif
