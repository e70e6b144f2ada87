// SPDX-License-Identifier: GPL-2.0-only
/* v5.9: slab is counted by node, in bytes */
#include <linux/mm.h>
#include <linux/vmstat.h>
#include "probe.h"

PROBE_EXISTS(global_node_page_state_pages);
PROBE_IS(NR_SLAB_UNRECLAIMABLE_B > 0);
