// SPDX-License-Identifier: GPL-2.0-only
/* v4.7, RHEL 7: mmget_not_zero() is in linux/sched.h */
#include <linux/sched.h>
#include "probe.h"

PROBE_EXISTS(mmget_not_zero);
