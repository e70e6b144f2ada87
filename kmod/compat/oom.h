/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_OOM_H
#define _COMPAT_OOM_H

#include <linux/cgroup.h>
#include <linux/nodemask.h>
#include <linux/sched.h>

struct mem_cgroup;

#define MEMTAP_OOM_ARGS	8
#define MEMTAP_OOM_NEAR	6	/* of them, in registers */

/* What oom_kill_process() was called with; @constraint: MEMTAP_CONSTRAINT_*. */
struct memtap_oom_call {
	struct task_struct *victim;
	struct mem_cgroup *memcg;	/* whose limit it is, or NULL */
	const nodemask_t *nodes;	/* that were allowed, or NULL */
	const char *message;		/* or NULL */
	u64 gfp;
	int order;			/* -1: SysRq f */
	s64 points;			/* bytes; see @permille */
	unsigned long total;		/* pages */
	bool permille;			/* @points were thousandths of @total */
	u32 constraint;
};

/* @args: its first arguments; those that it has not are anything. */
void memtap_oom_call(const unsigned long args[MEMTAP_OOM_ARGS], struct memtap_oom_call *c);

/* What the OOM killer of this kernel counts less of @task, with CAP_SYS_ADMIN, if it does. */
bool memtap_oom_bonus(struct task_struct *task);
/* Has its cpuset one of the nodes that current may use? */
bool memtap_oom_same_nodes(struct task_struct *task);

/* Names of GFP flags; "" where the kernel has none. */
void memtap_gfp_names(u64 gfp, char *buf, size_t size);

/* Limit and use of a cgroup's memory, pages.  False: this kernel keeps them to itself. */
bool memtap_memcg_usage(struct mem_cgroup *memcg, u64 *usage, u64 *limit);

/*
 * Under RCU, any context but NMIs: the cgroup that is charged for what a task takes, and
 * the one that a limit belongs to; its inode, and its path ("": not known, for which spinlocks
 * are taken); is it @of, or below that?
 */
struct cgroup *memtap_memory_cgroup(struct task_struct *task);
struct cgroup *memtap_memcg_cgroup(struct mem_cgroup *memcg);
u64 memtap_cgroup_inode(struct cgroup *cgrp);
void memtap_cgroup_path(struct cgroup *cgrp, char *buf, size_t size);
bool memtap_cgroup_below(struct cgroup *cgrp, const struct cgroup *of);

#endif
