// SPDX-License-Identifier: GPL-2.0-only
/* v4.12: 32-bit system calls map below a base of their own, and exceptions do not */
#include <linux/mm_types.h>
#include "probe.h"

PROBE_MEMBER(struct mm_struct, mmap_compat_base);
