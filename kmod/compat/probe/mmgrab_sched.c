// SPDX-License-Identifier: GPL-2.0-only
/* RHEL 7: mmgrab() is in linux/sched.h */
#include <linux/sched.h>
#include "probe.h"

PROBE_TYPE(mmgrab, void (struct mm_struct *));
