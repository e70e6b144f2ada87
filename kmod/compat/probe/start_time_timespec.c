// SPDX-License-Identifier: GPL-2.0-only
/* before v3.17: the start_time of a task is a struct timespec */
#include <linux/sched.h>
#include "probe.h"

PROBE_MEMBER_TYPE(struct task_struct, start_time, struct timespec);
