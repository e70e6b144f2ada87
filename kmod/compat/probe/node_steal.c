// SPDX-License-Identifier: GPL-2.0-only
/* v7.1: what reclaim does is counted by node */
#include <linux/mm.h>
#include <linux/vmstat.h>
#include "probe.h"

PROBE_IS(PGSTEAL_KSWAPD == PGDEMOTE_PROACTIVE + 1 && PGSCAN_KSWAPD > NR_SHMEM);
