// SPDX-License-Identifier: GPL-2.0-only
/* v4.5: shared memory of a process is counted by itself */
#include <linux/mm.h>
#include "probe.h"

PROBE_EXISTS(MM_SHMEMPAGES);
