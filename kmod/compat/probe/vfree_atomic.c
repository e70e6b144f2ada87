// SPDX-License-Identifier: GPL-2.0-only
/* v4.10: vfree() where one must not wait */
#include <linux/vmalloc.h>
#include "probe.h"

PROBE_EXISTS(vfree_atomic);
