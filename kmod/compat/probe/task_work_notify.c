// SPDX-License-Identifier: GPL-2.0-only
/* v5.10: task_work_add() is exported; its last argument was a bool before */
#include <linux/task_work.h>
#include "probe.h"

PROBE_TYPE(task_work_add,
	   int (struct task_struct *, struct callback_head *,
		enum task_work_notify_mode));
