// SPDX-License-Identifier: GPL-2.0-only
/* v4.5: cgroup v2 is struct css_set's dfl_cgrp */
#include <linux/cgroup.h>
#include "probe.h"

struct cgroup *of(struct task_struct *task);
struct cgroup *of(struct task_struct *task)
{
	return task_css_set(task)->dfl_cgrp;
}
