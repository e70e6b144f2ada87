// SPDX-License-Identifier: GPL-2.0-only
/* v4.11: linux/sched/loadavg.h */
#include <linux/sched/loadavg.h>
#include "probe.h"

PROBE_EXISTS(avenrun[0]);
