// SPDX-License-Identifier: GPL-2.0-only
/* before v5.11: page tables are counted by zone */
#include <linux/mm.h>
#include <linux/vmstat.h>
#include "probe.h"

PROBE_IS(NR_PAGETABLE == NR_MLOCK + 1);
