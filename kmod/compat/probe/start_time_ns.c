// SPDX-License-Identifier: GPL-2.0-only
/* v3.17: the start_time of a task is in ns */
#include <linux/sched.h>
#include "probe.h"

PROBE_MEMBER_TYPE(struct task_struct, start_time, u64);
