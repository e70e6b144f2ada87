// SPDX-License-Identifier: GPL-2.0-only
/* Apply a session's filter (core/filter) to kernel tasks. */
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "record/filter.h"
#include "record/recording.h"

#include "compat/task.h"

static u32 task_cgroups(void *ctx, u32 v2, u64 *ids)
{
	return memtap_task_cgroups(ctx, v2, ids, FILTER_CGROUP_DEPTH);
}

static void describe_task(struct filter_task *t, struct task_struct *task)
{
	t->pid = task->tgid;
	t->tid = task->pid;
	t->comm = task->comm;
	t->cgroups = task_cgroups;
	t->ctx = task;
}

bool memtap_filter_task(const struct filter *f, struct task_struct *task)
{
	struct filter_task t;

	describe_task(&t, task);
	return filter_task(f, &t);
}

bool memtap_filter_own(const struct filter *f)
{
	struct filter_task t;

	if (!READ_ONCE(f->not_pid))
		return false;
	describe_task(&t, current);
	return filter_not_task(f, &t);
}

bool memtap_wants_mm(struct memtap_session *s, struct mm_struct *mm)
{
	struct task_struct *owner;
	struct filter *f = s->filter;
	bool wants = true;

	if (!s->filter_set)
		return true;
	rcu_read_lock();
	owner = memtap_mm_owner(mm);
	if (owner && f->has_pids)
		wants = pidset_has(&s->mm_pids, owner->tgid);
	if (owner && wants && (f->nr_comms || f->nr_cgroups || READ_ONCE(f->not_pid)))
		wants = memtap_filter_task(s->mm_filter, owner);
	rcu_read_unlock();
	return wants;
}
