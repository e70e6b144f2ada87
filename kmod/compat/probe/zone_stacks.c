// SPDX-License-Identifier: GPL-2.0-only
/* before v5.9: kernel stacks are counted by zone */
#include <linux/mm.h>
#include <linux/vmstat.h>
#include "probe.h"

PROBE_IS(NR_KERNEL_STACK_KB == NR_PAGETABLE + 1);
