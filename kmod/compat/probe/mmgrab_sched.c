// SPDX-License-Identifier: GPL-2.0-only
/* RHEL 7: mmgrab() and mmget_not_zero() are in linux/sched.h */
#include <linux/sched.h>
#include "probe.h"

PROBE_TYPE(mmgrab, void (struct mm_struct *));
PROBE_EXISTS(mmget_not_zero);
