// SPDX-License-Identifier: GPL-2.0-only
/* v6.1: the tracepoint kmalloc has the node, and kmem_cache_alloc the cache, without sizes */
#include <linux/slab.h>
#include <trace/events/kmem.h>
#include "probe.h"

PROBE_TYPE(check_trace_callback_type_kmalloc,
	   void(void (*)(void *, unsigned long, const void *, size_t, size_t, gfp_t, int)));
