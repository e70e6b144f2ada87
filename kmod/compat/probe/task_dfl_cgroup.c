// SPDX-License-Identifier: GPL-2.0-only
/* v4.14: task_dfl_cgroup(), cgroup v2 */
#include <linux/cgroup.h>
#include "probe.h"

PROBE_EXISTS(task_dfl_cgroup);
