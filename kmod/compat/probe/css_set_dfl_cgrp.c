// SPDX-License-Identifier: GPL-2.0-only
/* v4.5: cgroup v2 is struct css_set's dfl_cgrp */
#include <linux/cgroup.h>
#include <linux/magic.h>
#include "probe.h"

/* (v4.4 has the member, and no cgroup v2) */
PROBE_IS(CGROUP2_SUPER_MAGIC > 0);

struct cgroup *of(struct task_struct *task);
struct cgroup *of(struct task_struct *task)
{
	return task_css_set(task)->dfl_cgrp;
}
