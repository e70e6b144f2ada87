// SPDX-License-Identifier: GPL-2.0-only
/*
 * What memtap itself has to know of tasks while sessions run: forks (children
 * of a watched process), ends (their PIDs may be used again), and the end of an
 * address space, where its mappings are read for the last time.
 *
 * exit_mmap() runs when the last user of an mm is gone, at exit and at exec, on
 * all kernels from 3.10 on, in whatever task dropped it.
 */
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include "arch.h"
#include "hooks.h"
#include "record.h"
#include "session.h"

#include "compat/tracepoint.h"
#include "compat/trace_sched.h"

static DEFINE_MUTEX(task_hooks_lock);
static u32 users;
static bool fork_on, free_on, exit_on;

static void watch_child(struct memtap_session *s, struct task_struct *parent,
			struct task_struct *child)
{
	if (!(s->flags & MEMTAP_CFG_CHILDREN) || !s->filter->has_pids)
		return;
	if (!pidset_has(&s->filter->pids, parent->tgid) &&
	    !pidset_has(&s->filter->tids, parent->pid))
		return;
	if (!pidset_add(&s->filter->pids, child->tgid) ||
	    !pidset_add(&s->mm_pids, child->tgid))
		atomic64_inc(&s->children_lost);
}

static void on_fork(struct task_struct *parent, struct task_struct *child)
{
	struct memtap_session *s;

	if (parent->tgid == child->tgid)
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(s, &memtap_running, running_node)
		watch_child(s, parent, child);
	rcu_read_unlock();
}

static void on_free(struct task_struct *task)
{
	struct memtap_session *s;

	rcu_read_lock();
	list_for_each_entry_rcu(s, &memtap_running, running_node) {
		if (!s->filter->has_pids)
			continue;
		pidset_del(&s->filter->tids, task->pid);
		if (task->pid == task->tgid) {
			pidset_del(&s->filter->pids, task->pid);
			pidset_del(&s->mm_pids, task->pid);
		}
	}
	rcu_read_unlock();
}

TP_SCHED_PROCESS_FORK(memtap_on_fork, on_fork)
TP_SCHED_PROCESS_FREE(memtap_on_free, on_free)

/* A path may wait for a lock that is a sleeping one on a real-time kernel. */
static bool may_take_paths(void)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && !IS_ENABLED(CONFIG_PREEMPT_RT_FULL);
}

static int on_exit_mmap(struct kprobe *kp, struct pt_regs *regs)
{
	struct mm_struct *mm = (struct mm_struct *)memtap_karg(regs, 0);
	struct memtap_session *s;
	char *buf;

	preempt_disable();
	buf = may_take_paths() ? memtap_path_buf() : NULL;
	rcu_read_lock();
	list_for_each_entry_rcu(s, &memtap_running, running_node)
		memtap_tasks_mm_gone(s, mm, buf, MEMTAP_PATH_BUF);
	rcu_read_unlock();
	preempt_enable();
	return 0;
}

static struct kprobe exit_mmap_probe = {
	.symbol_name = "exit_mmap",
	.pre_handler = on_exit_mmap,
};

/*
 * Each of them is something to do without: what is missing then shows as
 * spaces_missed, or as children that are not watched.
 */
int memtap_task_hooks_get(void)
{
	mutex_lock(&task_hooks_lock);
	if (!users++) {
		fork_on = !memtap_tracepoint_register("sched_process_fork",
						      memtap_on_fork, NULL);
		free_on = !memtap_tracepoint_register("sched_process_free",
						      memtap_on_free, NULL);
		exit_mmap_probe.addr = NULL;
		exit_mmap_probe.flags = 0;
		exit_on = !register_kprobe(&exit_mmap_probe);
	}
	mutex_unlock(&task_hooks_lock);
	return fork_on ? 0 : -EOPNOTSUPP;
}

void memtap_task_hooks_put(void)
{
	mutex_lock(&task_hooks_lock);
	if (!--users) {
		if (fork_on)
			memtap_tracepoint_unregister("sched_process_fork",
						     memtap_on_fork, NULL);
		if (free_on)
			memtap_tracepoint_unregister("sched_process_free",
						     memtap_on_free, NULL);
		if (exit_on)
			unregister_kprobe(&exit_mmap_probe);
		tracepoint_synchronize_unregister();
	}
	mutex_unlock(&task_hooks_lock);
}
