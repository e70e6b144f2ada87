// SPDX-License-Identifier: GPL-2.0-only
/* v6.10, before v6.14: pages that come in bulk may come in a list, one argument more */
#include <linux/gfp.h>
#include "probe.h"

PROBE_TYPE(alloc_pages_bulk_noprof,
	   unsigned long(gfp_t, int, nodemask_t *, int, struct list_head *, struct page **));
