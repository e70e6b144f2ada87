// SPDX-License-Identifier: GPL-2.0-only
/* v3.13: nr_ptes is atomic */
#include <linux/mm_types.h>
#include "probe.h"

PROBE_MEMBER_TYPE(struct mm_struct, nr_ptes, atomic_long_t);
