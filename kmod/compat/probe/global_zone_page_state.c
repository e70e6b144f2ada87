// SPDX-License-Identifier: GPL-2.0-only
/* v4.14: global_page_state() of zones got a name that says so */
#include <linux/mm.h>
#include <linux/vmstat.h>
#include "probe.h"

PROBE_EXISTS(global_zone_page_state);
