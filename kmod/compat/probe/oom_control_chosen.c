// SPDX-License-Identifier: GPL-2.0-only
/* v4.9: struct oom_control also says who is chosen, and for which cgroup */
#include <linux/gfp.h>
#include <linux/nodemask.h>
#include <linux/oom.h>
#include "probe.h"

PROBE_MEMBER(struct oom_control, chosen);
