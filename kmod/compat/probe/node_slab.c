// SPDX-License-Identifier: GPL-2.0-only
/* v4.14: slab is counted by node */
#include <linux/mm.h>
#include <linux/vmstat.h>
#include "probe.h"

unsigned long slab(void);
unsigned long slab(void)
{
	return global_node_page_state(NR_SLAB_UNRECLAIMABLE);
}

/* (before, it is a zone's) */
PROBE_IS(NR_SLAB_UNRECLAIMABLE == NR_SLAB_RECLAIMABLE + 1 &&
	 NR_SLAB_RECLAIMABLE == NR_UNEVICTABLE + 1);
