// SPDX-License-Identifier: GPL-2.0-only
/* v4.11: mmgrab() and mmget_not_zero() are in linux/sched/mm.h */
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include "probe.h"

PROBE_TYPE(mmgrab, void (struct mm_struct *));
PROBE_EXISTS(mmget_not_zero);
