// SPDX-License-Identifier: GPL-2.0-only
/* v6.0, until v6.1, and RHEL 9: the tracepoint kmalloc has the cache, and the sizes behind it */
#include <linux/slab.h>
#include <trace/events/kmem.h>
#include "probe.h"

PROBE_TYPE(check_trace_callback_type_kmalloc,
	   void(void (*)(void *, unsigned long, const void *, struct kmem_cache *, size_t,
			 size_t, gfp_t)));
