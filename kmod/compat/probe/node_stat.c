// SPDX-License-Identifier: GPL-2.0-only
/* v4.8: counters of memory are kept by node, too */
#include <linux/mm.h>
#include <linux/vmstat.h>
#include "probe.h"

PROBE_EXISTS(global_node_page_state);
