// SPDX-License-Identifier: GPL-2.0-only
/* v4.2: what the OOM killer is asked for is a struct oom_control */
#include <linux/gfp.h>
#include <linux/nodemask.h>
#include <linux/oom.h>
#include "probe.h"

PROBE_MEMBER(struct oom_control, nodemask);
