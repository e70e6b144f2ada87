// SPDX-License-Identifier: GPL-2.0-only
/* v5.9: chosen_points are pages, and may be negative; before, thousandths of totalpages */
#include <linux/gfp.h>
#include <linux/nodemask.h>
#include <linux/oom.h>
#include "probe.h"

PROBE_MEMBER_TYPE(struct oom_control, chosen_points, long);
