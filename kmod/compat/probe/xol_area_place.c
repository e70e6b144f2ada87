// SPDX-License-Identifier: GPL-2.0-only
/* v7.0 at the latest, stable kernels of 2026: the page of uprobes is below 4 GiB for 32 bits */
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/uprobes.h>
#include "probe.h"

PROBE_EXISTS(arch_uprobe_get_xol_area);
