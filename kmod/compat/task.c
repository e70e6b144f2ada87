// SPDX-License-Identifier: GPL-2.0-only
/* Read the cgroup and other properties of a task. */
#include <linux/cgroup.h>

#include "port/uapi.h"

#include "compat/task.h"

#ifdef CONFIG_CGROUPS

#if defined(HAVE_CGROUP_ID) || defined(HAVE_CGROUP_INO)	/* since v3.15 */

static u64 inode_of(struct cgroup *cgrp)
{
#ifdef HAVE_CGROUP_ID				/* since v5.5 */
	return cgroup_id(cgrp);
#else
	return cgroup_ino(cgrp);
#endif
}

static struct cgroup *parent_of(struct cgroup *cgrp)
{
	struct cgroup_subsys_state *css = cgrp->self.parent;

	return css ? container_of(css, struct cgroup, self) : NULL;
}

static struct cgroup *unified(struct task_struct *task)
{
#if defined(HAVE_TASK_DFL_CGROUP)		/* since v4.14, or before */
	return task_dfl_cgroup(task);
#elif defined(HAVE_CSS_SET_DFL_CGRP)		/* since v4.5 */
	return task_css_set(task)->dfl_cgrp;
#else
	return NULL;
#endif
}

/* Where nobody mounted it on its own, the controller is in the unified one. */
static struct cgroup *of_memory(struct task_struct *task)
{
#ifdef CONFIG_MEMCG
	struct cgroup *cgrp = task_cgroup(task, memory_cgrp_id);

	return cgrp->root == &cgrp_dfl_root ? NULL : cgrp;
#else
	return NULL;
#endif
}

#elif defined(HAVE_CGROUP_DENTRY)		/* before v3.15 */

#include <linux/dcache.h>
#include <linux/fs.h>

static u64 inode_of(struct cgroup *cgrp)
{
	struct dentry *dentry = rcu_dereference(cgrp->dentry);
	struct inode *inode = dentry ? ACCESS_ONCE(dentry->d_inode) : NULL;

	return inode ? inode->i_ino : 0;
}

static struct cgroup *parent_of(struct cgroup *cgrp)
{
	return cgrp->parent;
}

static struct cgroup *unified(struct task_struct *task)
{
	return NULL;
}

static struct cgroup *of_memory(struct task_struct *task)
{
#ifdef CONFIG_MEMCG
	struct cgroup *cgrp = task_cgroup(task, mem_cgroup_subsys_id);

	/* not mounted: there are no directories */
	return inode_of(cgrp) ? cgrp : NULL;
#else
	return NULL;
#endif
}

#else
#error "struct cgroup: unknown form, add a probe in compat/probe"
#endif

u32 memtap_task_cgroups(struct task_struct *task, u32 v2, u64 *ids, u32 max)
{
	struct cgroup *cgrp = v2 ? unified(task) : of_memory(task);
	u32 nr = 0;

	while (cgrp && nr < max) {
		ids[nr++] = inode_of(cgrp);
		cgrp = parent_of(cgrp);
	}
	return nr;
}

#else /* !CONFIG_CGROUPS */

u32 memtap_task_cgroups(struct task_struct *task, u32 v2, u64 *ids, u32 max)
{
	return 0;
}

#endif
