// SPDX-License-Identifier: GPL-2.0-only
/* v4.10: direct reclaims are counted by zone */
#include <linux/mm.h>
#include <linux/vmstat.h>
#include "probe.h"

PROBE_EXISTS(ALLOCSTALL_NORMAL);
