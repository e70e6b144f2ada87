// SPDX-License-Identifier: GPL-2.0-only
/* v4.8: what reclaim does is counted for all zones together */
#include <linux/mm.h>
#include <linux/vmstat.h>
#include "probe.h"

PROBE_EXISTS(PGSTEAL_KSWAPD);
