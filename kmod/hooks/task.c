// SPDX-License-Identifier: GPL-2.0-only
/*
 * Track tasks for memtap's own use while sessions run: forks (children of a watched process),
 * exits (the PID may be reused), and the end of an address space, where its mappings are read
 * last.
 *
 * exit_mmap() runs when the last user of an mm is gone, at exit and at exec, on all kernels since
 * 3.10, in the task that dropped the last reference.
 */
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include "record/arch.h"
#include "live/death.h"
#include "live/live.h"
#include "hooks/hooks.h"
#include "hooks/mapping.h"
#include "record/filter.h"
#include "record/record.h"
#include "record/spaces.h"

#include "compat/kprobe.h"
#include "compat/tracepoint.h"
#include "compat/trace_sched.h"

LIST_HEAD(memtap_running);
static DEFINE_MUTEX(task_hooks_lock);
static u32 users, map_users;
static bool fork_on, free_on, exec_on, exit_on;
static bool maps_stay;			/* one of them could not be taken away */

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
	list_for_each_entry_rcu(s, &memtap_running, running_node) {
		watch_child(s, parent, child);
		if (s->spaces && parent->mm && child->mm && parent->mm != child->mm)
			memtap_spaces_forked(s, parent->mm, child->mm);
		if (s->heap)
			memtap_heap_forked(s, parent, child);
	}
	rcu_read_unlock();
}

/*
 * Before v5.8 a thread that executes a program takes the number of its process's
 * leader, and the leader, which is freed then, still has it.
 */
static bool lives_on(const struct task_struct *task)
{
	return task->pid == task->tgid && READ_ONCE(task->group_leader) != task;
}

static void on_free(struct task_struct *task)
{
	const bool taken_over = lives_on(task);
	struct memtap_session *s;

	memtap_mapping_task_gone(task);
	rcu_read_lock();
	list_for_each_entry_rcu(s, &memtap_running, running_node) {
		if (s->heap)
			memtap_heap_thread_gone(s, task);
		if (taken_over)
			continue;
		/* the number will be somebody else's */
		if (task->pid == task->tgid && s->filter->not_pid == task->pid)
			WRITE_ONCE(s->filter->not_pid, 0);
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

static void on_exec(struct task_struct *task)
{
	struct memtap_session *s;

	rcu_read_lock();
	list_for_each_entry_rcu(s, &memtap_running, running_node) {
		if (s->heap)
			memtap_heap_execed(s, task);
		if ((s->flags & MEMTAP_CFG_EXECS) &&
		    (!s->filter_set || memtap_filter_task(s->filter, task)))
			memtap_exec_hold(s, task);
	}
	rcu_read_unlock();
}

TP_SCHED_PROCESS_EXEC(memtap_on_exec, on_exec)
TP_SCHED_PROCESS_FORK(memtap_on_fork, on_fork)
TP_SCHED_PROCESS_FREE(memtap_on_free, on_free)

/*
 * This CPU's memory for a path, which is made under spinlocks.  Preemption is
 * off; hooks on mappings do not nest.
 */
static char *path_buf(void)
{
	return memtap_plain_spinlocks() ? memtap_path_buf() : NULL;
}

static int on_exit_mmap(struct kprobe *kp, struct pt_regs *regs)
{
	struct mm_struct *mm = (struct mm_struct *)memtap_karg(regs, 0);
	struct memtap_session *s;
	char *buf;

	preempt_disable();
	buf = path_buf();
	rcu_read_lock();
	list_for_each_entry_rcu(s, &memtap_running, running_node) {
		memtap_tasks_mm_gone(s, mm, buf, MEMTAP_PATH_BUF);
		if (s->spaces)
			memtap_spaces_gone(s, mm);
		if (s->heap)
			memtap_heap_gone(s, mm);
	}
	rcu_read_unlock();
	preempt_enable();
	return 0;
}

static struct kprobe exit_mmap_probe = {
	.symbol_name = "exit_mmap",
	.pre_handler = on_exit_mmap,
};

/* --- mappings of files: arguments have been the same since 3.10 ---------- */

static int on_map(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)memtap_karg(regs, 0);
	struct memtap_session *s;
	char *buf;

	if (!vma->vm_file || !(vma->vm_flags & VM_EXEC))
		return 0;
	preempt_disable();
	buf = path_buf();
	rcu_read_lock();
	list_for_each_entry_rcu(s, &memtap_running, running_node) {
		memtap_tasks_mapped(s, vma, buf, MEMTAP_PATH_BUF);
		if (s->spaces)
			memtap_spaces_mapped(s, vma, buf, MEMTAP_PATH_BUF);
	}
	rcu_read_unlock();
	preempt_enable();
	return 0;
}

static int on_unmap(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (struct vm_area_struct *)memtap_karg(regs, 0);
	u64 start = memtap_karg(regs, 1), end = memtap_karg(regs, 2);
	struct memtap_session *s;
	char *buf;

	if (!vma->vm_file || !(vma->vm_flags & VM_EXEC))
		return 0;
	preempt_disable();
	buf = path_buf();
	rcu_read_lock();
	list_for_each_entry_rcu(s, &memtap_running, running_node) {
		memtap_tasks_unmapped(s, vma, start, end, buf, MEMTAP_PATH_BUF);
		if (s->spaces)
			memtap_spaces_unmapped(s, vma->vm_mm, start, end);
	}
	rcu_read_unlock();
	preempt_enable();
	return 0;
}

static struct kprobe map_probe = {
	.symbol_name = "uprobe_mmap",
	.pre_handler = on_map,
};

static struct kprobe unmap_probe = {
	.symbol_name = "uprobe_munmap",
	.pre_handler = on_unmap,
};

static int probe(struct kprobe *kp)
{
	kp->addr = NULL;
	kp->flags = 0;
	return memtap_kprobe_register(kp);
}

/* Both, or none: half of them would leave ranges that are no longer true. */
static int map_hooks_get(void)
{
	int err = 0;

	if (maps_stay)
		return -EBUSY;
	if (!map_users) {
		err = probe(&map_probe);
		if (err)
			return err;
		err = probe(&unmap_probe);
		if (err)
			maps_stay = !memtap_kprobe_unregister(&map_probe);
	}
	map_users += !err;
	return err;
}

static void map_hooks_put(void)
{
	if (--map_users)
		return;
	maps_stay = !memtap_kprobe_unregister(&map_probe);
	maps_stay |= !memtap_kprobe_unregister(&unmap_probe);
}

static int map_hooks_work(void)
{
	static bool works;
	int err = 0;

	mutex_lock(&task_hooks_lock);
	if (!works) {
		err = map_hooks_get();
		works = !err;
		if (works)
			map_hooks_put();
	}
	mutex_unlock(&task_hooks_lock);
	return err && err != -ENOMEM ? -EOPNOTSUPP : err;
}

int memtap_rows_supported(void)
{
	return IS_ENABLED(CONFIG_X86_64) ? map_hooks_work() : -EOPNOTSUPP;
}

/* --- life ---------------------------------------------------------------- */

static void put_basic(void)
{
	if (--users)
		return;
	/* what cannot be taken away is on the next time, too */
	if (fork_on)
		fork_on = !memtap_tracepoint_unregister("sched_process_fork",
							memtap_on_fork, NULL);
	if (free_on)
		free_on = !memtap_tracepoint_unregister("sched_process_free",
							memtap_on_free, NULL);
	if (exec_on)
		exec_on = !memtap_tracepoint_unregister("sched_process_exec",
							memtap_on_exec, NULL);
	if (exit_on)
		exit_on = !memtap_kprobe_unregister(&exit_mmap_probe);
	tracepoint_synchronize_unregister();
}

/* What this kernel cannot do is done without, but not what has no memory now. */
static bool is_on(int err, int *nomem)
{
	if (err == -ENOMEM)
		*nomem = err;
	return !err;
}

static int get_basic(void)
{
	int nomem = 0;

	if (!users++) {
		if (!fork_on)
			fork_on = is_on(memtap_tracepoint_register("sched_process_fork",
								   memtap_on_fork, NULL), &nomem);
		if (!free_on)
			free_on = is_on(memtap_tracepoint_register("sched_process_free",
								   memtap_on_free, NULL), &nomem);
		if (!exec_on)
			exec_on = is_on(memtap_tracepoint_register("sched_process_exec",
								   memtap_on_exec, NULL), &nomem);
		if (!exit_on)
			exit_on = is_on(probe(&exit_mmap_probe), &nomem);
	}
	if (nomem) {
		put_basic();
		return nomem;
	}
	return fork_on ? 0 : -EOPNOTSUPP;
}

/*
 * The basic ones are something to do without: what is missing then shows as
 * spaces_missed, or as children that are not watched.  -EOPNOTSUPP says that
 * forks go unseen; without the others there are no stacks by rows, and code that is
 * mapped over other code is met when mappings are read again.
 */
int memtap_task_hooks_get(bool rows, bool *maps)
{
	int err, mapped = -ENXIO;

	mutex_lock(&task_hooks_lock);
	err = get_basic();
	if (*maps && err != -ENOMEM) {
		if (!err && exit_on)
			mapped = map_hooks_get();
		*maps = !mapped;
		if (mapped && (rows || mapped == -ENOMEM)) {
			put_basic();
			err = mapped == -ENOMEM ? mapped : -ENXIO;
		}
	}
	mutex_unlock(&task_hooks_lock);
	return err;
}

void memtap_task_hooks_put(bool maps)
{
	mutex_lock(&task_hooks_lock);
	if (maps)
		map_hooks_put();
	put_basic();
	mutex_unlock(&task_hooks_lock);
}
