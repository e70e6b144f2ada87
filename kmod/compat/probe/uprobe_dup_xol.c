// SPDX-License-Identifier: GPL-2.0-only
/* v3.14: struct uprobe_task has dup_xol_work */
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/uprobes.h>
#include "probe.h"

PROBE_MEMBER(struct uprobe_task, dup_xol_work);
