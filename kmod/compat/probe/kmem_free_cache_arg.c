// SPDX-License-Identifier: GPL-2.0-only
/* v6.1: the tracepoint kmem_cache_free has the cache, and comes before the object is freed */
#include <linux/slab.h>
#include <trace/events/kmem.h>
#include "probe.h"

PROBE_TYPE(check_trace_callback_type_kmem_cache_free,
	   void(void (*)(void *, unsigned long, const void *, const struct kmem_cache *)));
