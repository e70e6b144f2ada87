// SPDX-License-Identifier: GPL-2.0-only
/* v4.2: struct mem_cgroup is known, and its counter, with a limit */
#include <linux/memcontrol.h>
#include <linux/page_counter.h>
#include "probe.h"

PROBE_MEMBER_TYPE(struct page_counter, limit, unsigned long);
PROBE_MEMBER(struct mem_cgroup, memory.usage);
