// SPDX-License-Identifier: GPL-2.0-only
/* v4.11, RHEL 7: linux/sched/mm.h, with mmgrab() and mmget_not_zero() */
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include "probe.h"

PROBE_TYPE(mmgrab, void (struct mm_struct *));
PROBE_EXISTS(mmget_not_zero);
