// SPDX-License-Identifier: GPL-2.0-only
/* v7.x: kmem_cache_alloc_bulk() returns bool */
#include <linux/slab.h>
#include "probe.h"

PROBE_TYPE(kmem_cache_alloc_bulk_noprof, bool(struct kmem_cache *, gfp_t, size_t, void **));
