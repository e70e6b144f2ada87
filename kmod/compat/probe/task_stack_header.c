// SPDX-License-Identifier: GPL-2.0-only
/* v4.11: task_stack_page() is in linux/sched/task_stack.h */
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include "probe.h"

typedef struct task_struct *probe_header;
