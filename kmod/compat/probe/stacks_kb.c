// SPDX-License-Identifier: GPL-2.0-only
/* v4.9: kernel stacks are counted in KiB; v5.9: by node */
#include <linux/mm.h>
#include <linux/vmstat.h>
#include "probe.h"

PROBE_EXISTS(NR_KERNEL_STACK_KB);
