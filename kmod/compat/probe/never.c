// SPDX-License-Identifier: GPL-2.0-only
/* no version; the negative control: a probe that cannot be true */
#include <linux/module.h>
#include <linux/sched.h>
#include "probe.h"

PROBE_MEMBER_TYPE(struct task_struct, mm, struct task_struct *);
