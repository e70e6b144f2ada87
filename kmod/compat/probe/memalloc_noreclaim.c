// SPDX-License-Identifier: GPL-2.0-only
/* v4.12: memalloc_noreclaim_save(), _restore() */
#include <linux/sched/mm.h>
#include "probe.h"

PROBE_TYPE(memalloc_noreclaim_save, unsigned int (void));
PROBE_EXISTS(memalloc_noreclaim_restore);
