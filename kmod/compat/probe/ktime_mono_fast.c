// SPDX-License-Identifier: GPL-2.0-only
/* v3.17: ktime_get_mono_fast_ns() */
#include <linux/ktime.h>
#include "probe.h"

PROBE_EXISTS(ktime_get_mono_fast_ns);
