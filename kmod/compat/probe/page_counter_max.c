// SPDX-License-Identifier: GPL-2.0-only
/* v4.18: struct page_counter has its limit as max */
#include <linux/memcontrol.h>
#include <linux/page_counter.h>
#include "probe.h"

PROBE_MEMBER_TYPE(struct page_counter, max, unsigned long);
PROBE_MEMBER(struct mem_cgroup, memory.usage);
