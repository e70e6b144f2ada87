// SPDX-License-Identifier: GPL-2.0-only
/* all versions; the positive control: if this fails, nothing here means anything */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/fs.h>
#include "probe.h"

PROBE_MEMBER_TYPE(struct task_struct, mm, struct mm_struct *);
