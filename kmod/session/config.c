// SPDX-License-Identifier: GPL-2.0-only
/* CONFIGURE: check a session's events, filter and memory limits, and apply them. */
#include <linux/kernel.h>
#include <linux/pid.h>
#include <linux/sched.h>

#include "hooks/oom.h"
#include "live/live.h"
#include "live/objects.h"
#include "record/guard.h"
#include "record/rows.h"
#include "record/touched.h"
#include "session/int.h"

#include "compat/death.h"
#include "compat/task.h"
#include "compat/valloc.h"

#define KNOWN_FLAGS	(MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK |	\
			 MEMTAP_CFG_THREADS | MEMTAP_CFG_HIST |		\
			 MEMTAP_CFG_ADDR | MEMTAP_CFG_CHILDREN |	\
			 MEMTAP_CFG_ONLY_USER | MEMTAP_CFG_ONLY_KERNEL | \
			 MEMTAP_CFG_ROWS | MEMTAP_CFG_LIVE | MEMTAP_CFG_KEEP | \
			 MEMTAP_CFG_TRACE | MEMTAP_CFG_NOT_SELF | MEMTAP_CFG_DEATHS | \
			 MEMTAP_CFG_EXECS | \
			 MEMTAP_CFG_FILES | MEMTAP_CFG_RING | MEMTAP_CFG_OOM | \
			 MEMTAP_CFG_OBJECTS | MEMTAP_CFG_CALL_SITE | \
			 MEMTAP_CFG_MAPPINGS | MEMTAP_CFG_TOUCHED | MEMTAP_CFG_PEAK)

#define MIN_STACKS	16384	/* bytes: one stack of any depth */
#define MIN_LIVE	65536
#define MAX_TABLE	(1ULL << 31)	/* of one table: its index is a u32 */

/*
 * 8 MiB hold about 50 000 stacks of 17 frames, 4 MiB 65 536 counters; a key
 * that occurs on several CPUs has a counter on each.
 */
void memtap_session_defaults(u64 *stacks, u64 *counters, u64 *tasks)
{
	u32 more = nr_cpu_ids > 4 ? min_t(u32, nr_cpu_ids, 128) - 4 : 0;

	*stacks = 8 << 20;
	*counters = (4 << 20) + more * (64ULL << 10);
	*tasks = 1 << 20;
}

/* --- the filter --------------------------------------------------------- */

void memtap_session_free_filter(struct memtap_session *s)
{
	if (!s->filter)
		return;
	memtap_vfree(s->filter->pids.slots);
	memtap_vfree(s->filter->tids.slots);
	memtap_vfree(s->mm_pids.slots);
	memtap_vfree(s->mm_filter);
	memtap_vfree(s->filter);
	s->filter = NULL;
	s->mm_filter = NULL;
	s->mm_pids.slots = NULL;
}

static int add_pid(struct memtap_session *s, const struct memtap_filter_item *f)
{
	struct filter *flt = s->filter;
	struct task_struct *task;
	u32 tgid = 0, tid = 0;
	bool ok;

	rcu_read_lock();
	task = pid_task(find_vpid((pid_t)f->value), PIDTYPE_PID);
	if (task) {
		tgid = task->tgid;
		tid = task->pid;
	}
	rcu_read_unlock();
	if (!tid || f->value > INT_MAX)
		return -ESRCH;
	if (f->kind == MEMTAP_FILTER_PID)
		ok = pidset_add(&flt->pids, tgid);
	else
		ok = pidset_add(&flt->tids, tid);
	flt->has_pids = 1;
	return ok && pidset_add(&s->mm_pids, tgid) ? 0 : -ENOSPC;
}

static int add_cgroup(struct filter *flt, const struct memtap_filter_item *f)
{
	u32 v2 = f->kind == MEMTAP_FILTER_CGROUP2, nr;
	u64 id;

	if (flt->nr_cgroups == FILTER_MAX_CGROUPS)
		return -ENOSPC;
	rcu_read_lock();
	nr = memtap_task_cgroups(current, v2, &id, 1);
	rcu_read_unlock();
	if (!nr)
		return -EOPNOTSUPP;
	flt->cgroups[flt->nr_cgroups] = f->value;
	flt->cgroup_v2[flt->nr_cgroups++] = v2;
	return 0;
}

static int add_item(struct memtap_session *s, const struct memtap_filter_item *f)
{
	struct filter *flt = s->filter;

	if (f->reserved)
		return -EINVAL;
	switch (f->kind) {
	case MEMTAP_FILTER_PID:
	case MEMTAP_FILTER_TID:
		return add_pid(s, f);
	case MEMTAP_FILTER_COMM:
		if (flt->nr_comms == FILTER_MAX_COMMS)
			return -ENOSPC;
		if (!memchr(f->comm, 0, sizeof(f->comm)))
			return -EINVAL;
		memcpy(flt->comms[flt->nr_comms++], f->comm, FILTER_COMM_LEN);
		return 0;
	case MEMTAP_FILTER_CGROUP1:
	case MEMTAP_FILTER_CGROUP2:
		return add_cgroup(flt, f);
	default:
		return -EINVAL;
	}
}

static int new_pidset(struct pidset *set)
{
	u32 *slots = memtap_vzalloc(MEMTAP_PIDSET_SLOTS * sizeof(u32));

	if (!slots)
		return -ENOMEM;
	pidset_init(set, slots, MEMTAP_PIDSET_SLOTS);
	return 0;
}

/*
 * A probe stands in a whole process: which one is decided by mm_pids, and by
 * the kinds of items that are not PIDs.
 */
static int make_mm_filter(struct memtap_session *s)
{
	s->mm_filter = memtap_vzalloc(sizeof(*s->mm_filter));
	if (!s->mm_filter)
		return -ENOMEM;
	*s->mm_filter = *s->filter;
	s->mm_filter->has_pids = 0;
	return 0;
}

static int make_filter(struct memtap_session *s, const struct memtap_config *c,
		       const struct memtap_filter_item *items)
{
	struct filter *flt;
	u32 i;
	int err;

	memtap_session_free_filter(s);
	flt = s->filter = memtap_vzalloc(sizeof(*flt));
	if (!flt)
		return -ENOMEM;
	err = new_pidset(&flt->pids);
	if (!err)
		err = new_pidset(&flt->tids);
	if (!err)
		err = new_pidset(&s->mm_pids);
	flt->min_size = c->min_size;
	flt->max_size = c->max_size;
	if (c->flags & MEMTAP_CFG_ONLY_USER)
		flt->flags |= FILTER_ONLY_USER;
	if (c->flags & MEMTAP_CFG_ONLY_KERNEL)
		flt->flags |= FILTER_ONLY_KERNEL;
	if (c->flags & MEMTAP_CFG_NOT_SELF)
		flt->not_pid = current->tgid;
	for (i = 0; !err && i < c->filter_nr; i++)
		err = add_item(s, &items[i]);
	if (!err)
		err = make_mm_filter(s);
	s->filter_set = c->filter_nr || flt->not_pid;
	s->filter_varies = s->filter->nr_comms || s->filter->nr_cgroups;
	if (err)
		memtap_session_free_filter(s);
	return err;
}

/* --- the rest ----------------------------------------------------------- */

static int check_live(const struct memtap_config *c)
{
	if (c->reserved2 || c->sample_bytes > 1ULL << 40 ||
	    (c->sample_bytes && c->sample_rate > 1))
		return -EINVAL;
	if (!(c->flags & MEMTAP_CFG_LIVE) && (c->flags & (MEMTAP_CFG_KEEP | MEMTAP_CFG_PEAK)))
		return -EINVAL;
	if ((c->flags & MEMTAP_CFG_PEAK) && (c->sample_bytes || c->sample_rate > 1))
		return -EINVAL;
	if (!(c->flags & (MEMTAP_CFG_LIVE | MEMTAP_CFG_OBJECTS)) && (c->flags & MEMTAP_CFG_TRACE))
		return -EINVAL;
	if (!(c->flags & (MEMTAP_CFG_LIVE | MEMTAP_CFG_OBJECTS)) &&
	    (c->sample_bytes || c->sample_rate))
		return -EINVAL;
	return 0;
}

static int check_objects(const struct memtap_config *c)
{
	const u32 not = MEMTAP_CFG_USTACK | MEMTAP_CFG_LIVE | MEMTAP_CFG_HIST | MEMTAP_CFG_ADDR |
			MEMTAP_CFG_FILES | MEMTAP_CFG_RING | MEMTAP_CFG_DEATHS;

	if ((c->flags & MEMTAP_CFG_OBJECTS) && (c->flags & not))
		return -EINVAL;
	if ((c->flags & MEMTAP_CFG_CALL_SITE) &&
	    (!(c->flags & MEMTAP_CFG_OBJECTS) || !(c->flags & MEMTAP_CFG_KSTACK)))
		return -EINVAL;
	return 0;
}

static int check_config(const struct memtap_config *c)
{
	int err;

	if (c->flags & ~KNOWN_FLAGS)
		return -EOPNOTSUPP;
	if (c->depth > MEMTAP_MAX_DEPTH || c->addr_shift > 63 || c->reserved ||
	    c->filter_nr > MEMTAP_MAX_FILTERS ||
	    (c->max_size && c->max_size < c->min_size))
		return -EINVAL;
	if ((c->flags & MEMTAP_CFG_ONLY_USER) &&
	    (c->flags & MEMTAP_CFG_ONLY_KERNEL))
		return -EINVAL;
	if ((c->flags & MEMTAP_CFG_FILES) && (c->flags & MEMTAP_CFG_ADDR))
		return -EINVAL;
	if ((c->flags & MEMTAP_CFG_MAPPINGS) && !(c->flags & MEMTAP_CFG_FILES))
		return -EINVAL;
	if ((c->flags & MEMTAP_CFG_RING) &&
	    (c->flags & (MEMTAP_CFG_LIVE | MEMTAP_CFG_HIST | MEMTAP_CFG_ADDR |
			 MEMTAP_CFG_FILES)))
		return -EINVAL;
	if (c->flags & MEMTAP_CFG_ROWS) {
		if (!(c->flags & MEMTAP_CFG_USTACK))
			return -EINVAL;
		err = memtap_rows_supported();
		if (err)
			return err;
	}
	if ((c->flags & MEMTAP_CFG_EXECS) && !(c->flags & MEMTAP_CFG_LIVE))
		return -EINVAL;
	if ((c->flags & (MEMTAP_CFG_DEATHS | MEMTAP_CFG_EXECS)) && !memtap_deaths_possible())
		return -EOPNOTSUPP;
	if ((c->flags & MEMTAP_CFG_OOM) && !memtap_oom_works())
		return -EOPNOTSUPP;
	if (c->events >> memtap_nr_builtins)
		return -ENOENT;
	if (c->mem_stacks > MAX_TABLE || c->mem_counters > MAX_TABLE ||
	    c->mem_tasks > MAX_TABLE || c->mem_unwind > MAX_TABLE ||
	    c->mem_live > MAX_TABLE)
		return -EDQUOT;
	if ((c->flags & MEMTAP_CFG_TOUCHED) &&
	    (c->flags & (MEMTAP_CFG_LIVE | MEMTAP_CFG_OBJECTS | MEMTAP_CFG_RING)))
		return -EINVAL;
	err = check_objects(c);
	return err ? err : check_live(c);
}

/* It has memory for deep stacks exactly when it is charged for it. */
static int set_deep(struct memtap_session *s, bool deep)
{
	int err = deep && !s->deep ? memtap_guard_deepen() : 0;

	if (err)
		return err;
	if (!deep && s->deep)
		memtap_guard_undeepen();
	s->deep = deep;
	return 0;
}

int memtap_session_configure(struct memtap_session *s, struct memtap_config *c,
			     const struct memtap_filter_item *items)
{
	u64 stacks, counters, tasks, old_tasks, old_unwind;
	int err;

	if (s->state > MEMTAP_CONFIGURED || s->nr_events || memtap_session_has_builtin_steps(s))
		return -EBUSY;
	err = check_config(c);
	if (err)
		return err;
	WRITE_ONCE(s->state, MEMTAP_NEW);
	old_tasks = s->mem_tasks;
	old_unwind = s->flags & MEMTAP_CFG_ROWS ? s->mem_unwind : 0;
	memtap_session_defaults(&stacks, &counters, &tasks);
	s->flags = c->flags;
	s->depth = c->depth ? c->depth : MEMTAP_DEFAULT_DEPTH;
	s->addr_shift = c->addr_shift;
	s->builtin_events = c->events;
	s->room_events = MEMTAP_USUAL_EVENTS;
	s->mem_stacks = c->mem_stacks ? c->mem_stacks : stacks;
	s->mem_stacks = max_t(u64, s->mem_stacks, MIN_STACKS);
	s->mem_counters = c->mem_counters ? c->mem_counters : counters;
	s->mem_tasks = c->mem_tasks ? c->mem_tasks : tasks;
	s->mem_unwind = c->mem_unwind ? c->mem_unwind : MEMTAP_DEFAULT_UNWIND;
	s->mem_live = c->mem_live ? c->mem_live : c->flags & MEMTAP_CFG_OBJECTS ?
		      MEMTAP_DEFAULT_OBJECTS : c->flags & MEMTAP_CFG_TOUCHED ?
		      MEMTAP_DEFAULT_TOUCHED : MEMTAP_DEFAULT_LIVE;
	s->mem_live = max_t(u64, s->mem_live, MIN_LIVE);
	s->sample_bytes = c->sample_bytes;
	s->sample_rate = c->sample_rate;
	/* tables that came before stay, where there is the same room for them */
	if (s->mem_tasks != old_tasks ||
	    old_unwind != (s->flags & MEMTAP_CFG_ROWS ? s->mem_unwind : 0))
		memtap_session_free_maps(s);
	WRITE_ONCE(s->mem_total, memtap_session_bytes(s));
	c->mem_total = s->mem_total;
	if (s->mem_total > READ_ONCE(memtap_max_mem))
		return -EDQUOT;
	err = set_deep(s, s->depth > MEMTAP_DEFAULT_DEPTH);
	if (!err)
		err = make_filter(s, c, items);
	if (!(s->flags & MEMTAP_CFG_LIVE))
		memtap_heap_free(s);
	else if (!err)
		err = memtap_heap_new(s, c);
	if (!err && s->heap)
		memtap_heap_may_grow(s, min_t(u64, READ_ONCE(memtap_max_mem) - s->mem_total,
					      s->mem_total / 4));
	if (!(s->flags & MEMTAP_CFG_OBJECTS))
		memtap_objects_free(s);
	else if (!err)
		err = memtap_objects_new(s, c);
	if (!err)
		WRITE_ONCE(s->state, MEMTAP_CONFIGURED);
	return err;
}
