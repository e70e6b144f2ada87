// SPDX-License-Identifier: GPL-2.0-only
/* v4.15: all page tables of a process are one number */
#include <linux/mm.h>
#include "probe.h"

PROBE_EXISTS(mm_pgtables_bytes);
