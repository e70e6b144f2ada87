// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sum up memory use at an OOM kill from the kernel's counters: of the machine or, where a
 * cpuset or memory policy allowed only some nodes, of these nodes.
 */
#include <stddef.h>

#include "triage/oom_int.h"

__u64 oom_counter(const struct memtap_oom_record *r, unsigned int vm)
{
	return vm < r->nr_counters && r->counters[vm] != MEMTAP_OOM_UNKNOWN ? r->counters[vm] : 0;
}

bool oom_of_nodes(const struct memtap_oom_record *r)
{
	return r->nodes_total && (r->constraint == MEMTAP_CONSTRAINT_CPUSET ||
				  r->constraint == MEMTAP_CONSTRAINT_POLICY);
}

/* A log may lack lines: what is in no counter then may be in one that was lost. */
static bool all_known(const __u64 *at)
{
	static const __u32 needed[] = {
		MEMTAP_VM_FREE, MEMTAP_VM_ANON, MEMTAP_VM_FILE, MEMTAP_VM_UNEVICTABLE,
		MEMTAP_VM_SLAB, MEMTAP_VM_SLAB_RECLAIMABLE, MEMTAP_VM_TABLES,
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (at[needed[i]] == MEMTAP_OOM_UNKNOWN)
			return false;
	return true;
}

static struct oom_memory memory_in(const struct memtap_oom_record *r, const __u64 *at, __u64 total)
{
	const bool logged = r->flags & MEMTAP_OOM_LOGGED;
	const __u32 nr = r->nr_counters;
	struct oom_memory m = { .total = total };
	__u64 known = 0;

	for (__u32 i = 0; i < nr && i < MEMTAP_NR_VM; i++)
		m.at[i] = at[i] != MEMTAP_OOM_UNKNOWN ? at[i] : 0;
	m.kernel = m.at[MEMTAP_VM_SLAB] + m.at[MEMTAP_VM_TABLES] + m.at[MEMTAP_VM_STACKS] +
		   m.at[MEMTAP_VM_PERCPU];
	known = m.at[MEMTAP_VM_FREE] + m.at[MEMTAP_VM_ANON] + m.at[MEMTAP_VM_FILE] + m.kernel +
		m.at[MEMTAP_VM_SLAB_RECLAIMABLE] + m.at[MEMTAP_VM_HUGE];
	/* in a log locked pages are on a list of their own, of files' or anonymous memory */
	if (logged)
		known += m.at[MEMTAP_VM_UNEVICTABLE];
	m.unaccounted = nr > MEMTAP_VM_STACKS && total > known && (!logged || all_known(at)) ?
			total - known : 0;
	m.knows_huge = nr > MEMTAP_VM_HUGE && at[MEMTAP_VM_HUGE] != MEMTAP_OOM_UNKNOWN;
	return m;
}

struct oom_memory oom_memory(const struct memtap_oom_record *r)
{
	return oom_of_nodes(r) ? memory_in(r, r->node_counters, r->nodes_total) :
	       memory_in(r, r->counters, r->total);
}

__u64 oom_unaccounted(const struct memtap_oom_record *r)
{
	return memory_in(r, r->counters, r->total).unaccounted;
}
