/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_TASK_H
#define _COMPAT_TASK_H

#include <linux/capability.h>
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/security.h>
#include <linux/time.h>
#include <linux/types.h>

/* When a task began, CLOCK_MONOTONIC. */
static inline u64 memtap_task_start_ns(const struct task_struct *task)
{
#if defined(HAVE_START_TIME_NS)			/* since v3.17 */
	return task->start_time;
#elif defined(HAVE_START_TIME_TIMESPEC)		/* before v3.17 */
	return timespec_to_ns(&task->start_time);
#else
#error "task_struct.start_time: unknown type, add a probe in compat/probe"
#endif
}

/* Changes with every exec. */
static inline u32 memtap_task_exec_id(const struct task_struct *task)
{
	return (u32)task->self_exec_id;
}

/*
 * Is it a 32-bit task on a 64-bit kernel?  By what was executed: of a system
 * call's registers RHEL 7 does not keep the code segment.
 */
static inline bool memtap_task_compat(struct task_struct *task)
{
#if defined(CONFIG_X86_64)
	return test_tsk_thread_flag(task, TIF_ADDR32);
#elif defined(CONFIG_ARM64) && defined(CONFIG_COMPAT)
	return test_tsk_thread_flag(task, TIF_32BIT);
#else
	return false;
#endif
}

/* One of the tasks that use @mm, or NULL; under rcu_read_lock(). */
static inline struct task_struct *memtap_mm_owner(struct mm_struct *mm)
{
#ifdef CONFIG_MEMCG
	return rcu_dereference(mm->owner);
#else
	return NULL;
#endif
}

/* Where the kernel's own code is mapped, if it is. */
static inline bool memtap_mm_vdso(const struct mm_struct *mm,
				  unsigned long *start)
{
	*start = (unsigned long)mm->context.vdso;
	return *start;
}

/*
 * What a task may have of memtap, in the initial user namespace.  Each includes the one before
 * it.  The division is that of perf and BPF: stacks and counts need CAP_PERFMON; registers and
 * memory of the kernel and of other processes need CAP_BPF as well.  CAP_SYS_ADMIN is enough for
 * everything, and kernels before v5.8 have nothing else.
 */
enum memtap_right {
	MEMTAP_MAY_COUNT,
	MEMTAP_MAY_READ,
};

static inline bool memtap_may(enum memtap_right right)
{
#ifdef CAP_BPF					/* since v5.8, with CAP_PERFMON */
	if (capable(CAP_PERFMON) && (right < MEMTAP_MAY_READ || capable(CAP_BPF)))
		return true;
#endif
	return capable(CAP_SYS_ADMIN);
}

/* May people choose kernel functions for probes?  What perf and tracefs ask. */
static inline int memtap_kprobes_locked_down(void)
{
#ifdef HAVE_SECURITY_LOCKED_DOWN		/* since v5.4 */
	return security_locked_down(LOCKDOWN_KPROBES);
#else
	return 0;
#endif
}

/**
 * memtap_task_cgroups() - ids of a task's cgroup and its ancestors
 * @v2:		of the unified hierarchy; else of the memory controller's own
 * @ids:	inode numbers of the cgroups' directories, innermost first
 * @max:	how many there is room for
 *
 * Under rcu_read_lock(); any context.  Return: how many; 0 if there is no such
 * hierarchy.
 */
u32 memtap_task_cgroups(struct task_struct *task, u32 v2, u64 *ids, u32 max);

#endif
