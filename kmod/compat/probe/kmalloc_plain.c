// SPDX-License-Identifier: GPL-2.0-only
/* before v6.0: the tracepoint kmalloc, and kmem_cache_alloc, have sizes, and no cache */
#include <linux/slab.h>
#include <trace/events/kmem.h>
#include "probe.h"

PROBE_TYPE(check_trace_callback_type_kmalloc,
	   void(void (*)(void *, unsigned long, const void *, size_t, size_t, gfp_t)));
