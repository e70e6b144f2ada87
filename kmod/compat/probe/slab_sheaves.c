// SPDX-License-Identifier: GPL-2.0-only
/* v6.18: slabs have sheaves, which kfree_rcu() fills without a word */
#include <linux/slab.h>
#include "probe.h"

PROBE_MEMBER(struct kmem_cache_args, sheaf_capacity);
