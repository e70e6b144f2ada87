// SPDX-License-Identifier: GPL-2.0-only
/* v5.0: struct oom_control has its constraint */
#include <linux/gfp.h>
#include <linux/nodemask.h>
#include <linux/oom.h>
#include "probe.h"

PROBE_MEMBER(struct oom_control, constraint);
