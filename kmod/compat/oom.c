// SPDX-License-Identifier: GPL-2.0-only
/* Read the arguments and state of an OOM kill. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/memcontrol.h>
#include <linux/nodemask.h>
#include <linux/oom.h>
#include <linux/string.h>

#include "port/uapi.h"

#include "compat/kernel_read.h"
#include "compat/oom.h"

#define MAX_THREADS	64		/* of a process, whose nodes are compared */

#if defined(HAVE_OOM_CONTROL_CONSTRAINT)	/* since v5.0 */
static u32 constraint_of(const struct oom_control *oc, const struct memtap_oom_call *c)
{
	switch (oc->constraint) {
	case CONSTRAINT_CPUSET:
		return MEMTAP_CONSTRAINT_CPUSET;
	case CONSTRAINT_MEMORY_POLICY:
		return MEMTAP_CONSTRAINT_POLICY;
	case CONSTRAINT_MEMCG:
		return MEMTAP_CONSTRAINT_MEMCG;
	default:
		return c->memcg ? MEMTAP_CONSTRAINT_MEMCG : MEMTAP_CONSTRAINT_NONE;
	}
}
#define CONSTRAINT_OF(c, oc)	constraint_of(oc, c)
#else
/* As constrained_alloc() finds it out. */
static u32 constraint_of(const struct memtap_oom_call *c)
{
	if (c->memcg)
		return MEMTAP_CONSTRAINT_MEMCG;
	if (c->gfp & (__force u32)__GFP_THISNODE)
		return MEMTAP_CONSTRAINT_NONE;
	if (c->nodes && !nodes_subset(node_states[N_MEMORY], *c->nodes))
		return MEMTAP_CONSTRAINT_POLICY;
#ifdef CONFIG_CPUSETS
	if (!nodes_subset(node_states[N_MEMORY], current->mems_allowed))
		return MEMTAP_CONSTRAINT_CPUSET;
#endif
	return MEMTAP_CONSTRAINT_NONE;
}
#define CONSTRAINT_OF(c, oc)	constraint_of(c)
#endif

/*
 * A victim that had asked to be killed first (swapoff, KSM) has as many points as the type can
 * hold, which says nothing.
 */
#ifdef HAVE_OOM_POINTS_SIGNED			/* since v5.9 */
static void take_points(struct memtap_oom_call *c, long points)
{
	c->points = points > LONG_MAX >> PAGE_SHIFT ? (s64)MEMTAP_OOM_UNKNOWN :
		    points * (s64)PAGE_SIZE;
}
#else
static void take_points(struct memtap_oom_call *c, unsigned long points)
{
	c->permille = true;
	/* memory, swap and tables, and an adjustment of 1000 */
	c->points = points > 2200 ? (s64)MEMTAP_OOM_UNKNOWN :
		    (s64)div_u64(((u64)c->total << PAGE_SHIFT) * points, 1000);
}
#endif

#if defined(HAVE_OOM_CONTROL_CHOSEN)		/* since v4.9: (oc, message) */
void memtap_oom_call(const unsigned long args[MEMTAP_OOM_ARGS], struct memtap_oom_call *c)
{
	const struct oom_control *oc = (const void *)args[0];

	c->victim = oc->chosen;
	c->memcg = oc->memcg;
	c->nodes = oc->nodemask;
	c->message = (const char *)args[1];
	c->gfp = (__force u32)oc->gfp_mask;
	c->order = oc->order;
	c->total = oc->totalpages;
	take_points(c, oc->chosen_points);
	c->constraint = CONSTRAINT_OF(c, oc);
}
/* since v4.2: (oc, victim, points, total, memcg, message) */
#elif defined(HAVE_OOM_CONTROL)
void memtap_oom_call(const unsigned long args[MEMTAP_OOM_ARGS], struct memtap_oom_call *c)
{
	const struct oom_control *oc = (const void *)args[0];

	c->victim = (struct task_struct *)args[1];
	c->memcg = (struct mem_cgroup *)args[4];
	c->nodes = oc->nodemask;
	c->message = (const char *)args[5];
	c->gfp = (__force u32)oc->gfp_mask;
	c->order = oc->order;
	c->total = args[3];
	take_points(c, (unsigned int)args[2]);
	c->constraint = constraint_of(c);
}
#else
/* Arguments that are read from the stack may be anything where a compiler moved them. */
static const nodemask_t *mask_at(unsigned long at)
{
	const unsigned long *words = nodes_addr(*(const nodemask_t *)at);
	unsigned long word;
	u32 i;

	for (i = 0; i < BITS_TO_LONGS(MAX_NUMNODES); i++)
		if (!memtap_kernel_bytes(&word, (u64)(unsigned long)(words + i), sizeof(word)))
			return NULL;
	return (const nodemask_t *)at;
}

/* before v4.2: (victim, gfp, order, points, total, memcg, nodes, message) */
void memtap_oom_call(const unsigned long args[MEMTAP_OOM_ARGS], struct memtap_oom_call *c)
{
	c->victim = (struct task_struct *)args[0];
	c->memcg = (struct mem_cgroup *)args[5];
	c->nodes = mask_at(args[6]);
	c->message = (const char *)args[7];
	c->gfp = (u32)args[1];
	c->order = (int)args[2];
	c->total = args[4];
	take_points(c, (unsigned int)args[3]);
	c->constraint = constraint_of(c);
}
#endif

bool memtap_oom_bonus(struct task_struct *task)
{
#ifdef HAVE_PAGE_COUNTER_MAX			/* since v4.18; it went in v4.17 */
	return false;
#else
	const struct cred *cred = __task_cred(task);

	return cred->user_ns == &init_user_ns && cap_raised(cred->cap_effective, CAP_SYS_ADMIN);
#endif
}

bool memtap_oom_same_nodes(struct task_struct *task)
{
#ifdef CONFIG_CPUSETS
	struct task_struct *t = task;
	u32 n = 0;

	do {
		if (nodes_intersects(t->mems_allowed, current->mems_allowed))
			return true;
	} while (++n < MAX_THREADS && (t = next_thread(t)) != task);
	return false;
#else
	return true;
#endif
}

void memtap_gfp_names(u64 gfp, char *buf, size_t size)
{
#ifdef HAVE_GFP_NAMES				/* since v4.6 */
	gfp_t flags = (__force gfp_t)(u32)gfp;

	snprintf(buf, size, "%pGg", &flags);
#else
	buf[0] = 0;
#endif
}

bool memtap_memcg_usage(struct mem_cgroup *memcg, u64 *usage, u64 *limit)
{
#if defined(CONFIG_MEMCG) && defined(HAVE_PAGE_COUNTER_MAX)	/* since v4.18 */
	*usage = atomic_long_read(&memcg->memory.usage);
	*limit = READ_ONCE(memcg->memory.max);
	return true;
#elif defined(CONFIG_MEMCG) && defined(HAVE_PAGE_COUNTER_LIMIT)	/* since v4.2 */
	*usage = atomic_long_read(&memcg->memory.usage);
	*limit = READ_ONCE(memcg->memory.limit);
	return true;
#else
	return false;
#endif
}

/* --- cgroups ------------------------------------------------------------- */

#if defined(CONFIG_CGROUPS) && defined(CONFIG_MEMCG)
#if defined(HAVE_CGROUP_ID) || defined(HAVE_CGROUP_INO)	/* since v3.15 */
struct cgroup *memtap_memory_cgroup(struct task_struct *task)
{
	return task_cgroup(task, memory_cgrp_id);
}

static struct cgroup *parent_of(const struct cgroup *cgrp)
{
	struct cgroup_subsys_state *css = cgrp->self.parent;

	return css ? container_of(css, struct cgroup, self) : NULL;
}
#else
struct cgroup *memtap_memory_cgroup(struct task_struct *task)
{
	return task_cgroup(task, mem_cgroup_subsys_id);
}

static struct cgroup *parent_of(const struct cgroup *cgrp)
{
	return cgrp->parent;
}
#endif

/* Its first member has always been the state of the controller. */
struct cgroup *memtap_memcg_cgroup(struct mem_cgroup *memcg)
{
	return ((struct cgroup_subsys_state *)memcg)->cgroup;
}

bool memtap_cgroup_below(struct cgroup *cgrp, const struct cgroup *of)
{
	while (cgrp && cgrp != of)
		cgrp = parent_of(cgrp);
	return cgrp;
}

void memtap_cgroup_path(struct cgroup *cgrp, char *buf, size_t size)
{
	buf[0] = 0;
#ifdef HAVE_KERNFS_PATH				/* since v4.10 */
	kernfs_path(cgrp->kn, buf, size);
	buf[size - 1] = 0;
#elif defined(HAVE_CGROUP_DENTRY)		/* before v3.15 */
	if (cgroup_path(cgrp, buf, size))
		buf[0] = 0;
#endif
}
#else
struct cgroup *memtap_memory_cgroup(struct task_struct *task)
{
	return NULL;
}

struct cgroup *memtap_memcg_cgroup(struct mem_cgroup *memcg)
{
	return NULL;
}

bool memtap_cgroup_below(struct cgroup *cgrp, const struct cgroup *of)
{
	return true;
}

void memtap_cgroup_path(struct cgroup *cgrp, char *buf, size_t size)
{
	buf[0] = 0;
}
#endif

u64 memtap_cgroup_inode(struct cgroup *cgrp)
{
	if (!cgrp)
		return 0;
#if !defined(CONFIG_CGROUPS)
	return 0;
#elif defined(HAVE_CGROUP_ID)			/* since v5.5 */
	return cgroup_id(cgrp);
#elif defined(HAVE_CGROUP_INO)			/* since v3.15 */
	return cgroup_ino(cgrp);
#else
	{
		struct dentry *dentry = rcu_dereference(cgrp->dentry);
		struct inode *inode = dentry ? ACCESS_ONCE(dentry->d_inode) : NULL;

		return inode ? inode->i_ino : 0;
	}
#endif
}
