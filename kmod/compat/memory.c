// SPDX-License-Identifier: GPL-2.0-only
/* Read the load and the memory counters of the machine. */
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/swap.h>
#include <linux/vmstat.h>

#ifdef HAVE_SCHED_LOADAVG			/* since v4.11 */
#include <linux/sched/loadavg.h>
#endif

#include "compat/memory.h"

void memtap_load(u32 load[3])
{
	u32 i;

	for (i = 0; i < 3; i++)
		load[i] = (u32)((u64)READ_ONCE(avenrun[i]) * 1000 >> FSHIFT);
}

static u64 bytes(unsigned long pages)
{
	return (u64)pages << PAGE_SHIFT;
}

/* Of one item of the zones of @nodes; pages. */
static u64 zones_of(const nodemask_t *nodes, enum zone_stat_item item)
{
	struct zone *zone;
	u64 sum = 0;
	int node, i;

	for_each_online_node(node) {
		if (!node_isset(node, *nodes))
			continue;
		for (i = 0; i < MAX_NR_ZONES; i++) {
			zone = &NODE_DATA(node)->node_zones[i];
			if (populated_zone(zone))
				sum += zone_page_state(zone, item);
		}
	}
	return sum;
}

#if defined(HAVE_NODE_STAT)			/* since v4.8 */

static u64 zone_sum(const nodemask_t *nodes, enum zone_stat_item item)
{
	return nodes ? zones_of(nodes, item) : global_zone_page_state(item);
}

/* Also of what is counted in bytes: there it is kept in pages. */
static u64 node_sum(const nodemask_t *nodes, enum node_stat_item item)
{
	u64 sum = 0;
	long v;
	int node;

	for_each_online_node(node) {
		if (nodes && !node_isset(node, *nodes))
			continue;
		v = atomic_long_read(&NODE_DATA(node)->vm_stat[item]);
		sum += v > 0 ? v : 0;
	}
	return sum;
}

static void slab(u64 *at, const nodemask_t *nodes)
{
#if defined(HAVE_NODE_SLAB_BYTES)		/* since v5.9 */
	at[MEMTAP_VM_SLAB] = bytes(node_sum(nodes, NR_SLAB_UNRECLAIMABLE_B));
	at[MEMTAP_VM_SLAB_RECLAIMABLE] = bytes(node_sum(nodes, NR_SLAB_RECLAIMABLE_B));
#elif defined(HAVE_NODE_SLAB)			/* since v4.14 */
	at[MEMTAP_VM_SLAB] = bytes(node_sum(nodes, NR_SLAB_UNRECLAIMABLE));
	at[MEMTAP_VM_SLAB_RECLAIMABLE] = bytes(node_sum(nodes, NR_SLAB_RECLAIMABLE));
#else
	at[MEMTAP_VM_SLAB] = bytes(zone_sum(nodes, NR_SLAB_UNRECLAIMABLE));
	at[MEMTAP_VM_SLAB_RECLAIMABLE] = bytes(zone_sum(nodes, NR_SLAB_RECLAIMABLE));
#endif
}

static void tables_and_stacks(u64 *at, const nodemask_t *nodes)
{
#ifdef HAVE_ZONE_TABLES				/* before v5.11 */
	at[MEMTAP_VM_TABLES] = bytes(zone_sum(nodes, NR_PAGETABLE));
#else
	at[MEMTAP_VM_TABLES] = bytes(node_sum(nodes, NR_PAGETABLE));
#endif
#if defined(HAVE_ZONE_STACKS)			/* v4.9 to v5.8 */
	at[MEMTAP_VM_STACKS] = zone_sum(nodes, NR_KERNEL_STACK_KB) << 10;
#elif defined(HAVE_STACKS_KB)			/* since v5.9 */
	at[MEMTAP_VM_STACKS] = node_sum(nodes, NR_KERNEL_STACK_KB) << 10;
#endif
}

static u64 file_cache(void)
{
	return bytes(node_sum(NULL, NR_INACTIVE_FILE) + node_sum(NULL, NR_ACTIVE_FILE));
}

static void counters(u64 *at, const nodemask_t *nodes)
{
	at[MEMTAP_VM_FREE] = bytes(zone_sum(nodes, NR_FREE_PAGES));
	at[MEMTAP_VM_ANON] = bytes(node_sum(nodes, NR_ANON_MAPPED));
	at[MEMTAP_VM_FILE] = bytes(node_sum(nodes, NR_FILE_PAGES));
	at[MEMTAP_VM_SHMEM] = bytes(node_sum(nodes, NR_SHMEM));
	at[MEMTAP_VM_DIRTY] = bytes(node_sum(nodes, NR_FILE_DIRTY));
	at[MEMTAP_VM_WRITEBACK] = bytes(node_sum(nodes, NR_WRITEBACK));
	at[MEMTAP_VM_UNEVICTABLE] = bytes(node_sum(nodes, NR_UNEVICTABLE));
	at[MEMTAP_VM_LOCKED] = bytes(zone_sum(nodes, NR_MLOCK));
	slab(at, nodes);
	tables_and_stacks(at, nodes);
}

#else						/* before v4.8: by zone */

static u64 zone_sum(const nodemask_t *nodes, enum zone_stat_item item)
{
	return nodes ? zones_of(nodes, item) : global_page_state(item);
}

static u64 file_cache(void)
{
	return bytes(zone_sum(NULL, NR_INACTIVE_FILE) + zone_sum(NULL, NR_ACTIVE_FILE));
}

static void counters(u64 *at, const nodemask_t *nodes)
{
	at[MEMTAP_VM_FREE] = bytes(zone_sum(nodes, NR_FREE_PAGES));
	at[MEMTAP_VM_ANON] = bytes(zone_sum(nodes, NR_ANON_PAGES));
	at[MEMTAP_VM_FILE] = bytes(zone_sum(nodes, NR_FILE_PAGES));
	at[MEMTAP_VM_SHMEM] = bytes(zone_sum(nodes, NR_SHMEM));
	at[MEMTAP_VM_DIRTY] = bytes(zone_sum(nodes, NR_FILE_DIRTY));
	at[MEMTAP_VM_WRITEBACK] = bytes(zone_sum(nodes, NR_WRITEBACK));
	at[MEMTAP_VM_UNEVICTABLE] = bytes(zone_sum(nodes, NR_UNEVICTABLE));
	at[MEMTAP_VM_LOCKED] = bytes(zone_sum(nodes, NR_MLOCK));
	at[MEMTAP_VM_SLAB] = bytes(zone_sum(nodes, NR_SLAB_UNRECLAIMABLE));
	at[MEMTAP_VM_SLAB_RECLAIMABLE] = bytes(zone_sum(nodes, NR_SLAB_RECLAIMABLE));
	at[MEMTAP_VM_TABLES] = bytes(zone_sum(nodes, NR_PAGETABLE));
	at[MEMTAP_VM_STACKS] = zone_sum(nodes, NR_KERNEL_STACK) * THREAD_SIZE;
}

#endif

void memtap_vm_counters(u64 at[MEMTAP_NR_VM], const nodemask_t *nodes)
{
	u32 i;

	for (i = 0; i < MEMTAP_NR_VM; i++)
		at[i] = MEMTAP_OOM_UNKNOWN;
	counters(at, nodes);
#if defined(CONFIG_SWAP) && defined(HAVE_STEAL_ALL_ZONES)	/* exported since v4.6 */
	at[MEMTAP_VM_SWAP_FREE] = bytes(get_nr_swap_pages());
#endif
}

/* What zones keep back: below the first the kernel reclaims, up to the second. */
static void watermarks(u64 *low, u64 *high)
{
	struct zone *zone;
	u32 node, i;

	*low = 0;
	*high = 0;
	for_each_online_node(node)
		for (i = 0; i < MAX_NR_ZONES; i++) {
			zone = &NODE_DATA(node)->node_zones[i];
			if (!populated_zone(zone))
				continue;
			*low += bytes(low_wmark_pages(zone));
			*high += bytes(high_wmark_pages(zone));
		}
}

/* What of a cache can be had: the kernel lets some of it be. */
static u64 usable(u64 cache, u64 low)
{
	return cache - min(cache / 2, low);
}

/* The kernel's own function (v4.6) is exported only since v5.x. */
u64 memtap_available(void)
{
	u64 at[MEMTAP_NR_VM], low, high, all;

	memtap_vm_counters(at, NULL);
	watermarks(&low, &high);
	all = at[MEMTAP_VM_FREE] + usable(file_cache(), low) +
	      usable(at[MEMTAP_VM_SLAB_RECLAIMABLE], low);
	return all - min(all, high);
}

/* --- reclaim ------------------------------------------------------------- */

#ifdef CONFIG_VM_EVENT_COUNTERS
/* Of @nr kinds, which stand behind each other. */
static u64 events(u32 first, u32 nr)
{
	u64 sum = 0;
	int cpu;
	u32 i;

	for_each_online_cpu(cpu)
		for (i = 0; i < nr; i++)
			sum += READ_ONCE(per_cpu(vm_event_states, cpu).event[first + i]);
	return sum;
}

void memtap_reclaim_counters(u64 at[MEMTAP_NR_RECLAIM])
{
#if defined(HAVE_NODE_STEAL)			/* since v7.1, or before */
	at[MEMTAP_RECLAIM_SCAN_KSWAPD] = global_node_page_state(PGSCAN_KSWAPD);
	at[MEMTAP_RECLAIM_SCAN_DIRECT] = global_node_page_state(PGSCAN_DIRECT);
	at[MEMTAP_RECLAIM_STEAL_KSWAPD] = global_node_page_state(PGSTEAL_KSWAPD);
	at[MEMTAP_RECLAIM_STEAL_DIRECT] = global_node_page_state(PGSTEAL_DIRECT);
#elif defined(HAVE_STEAL_ALL_ZONES)		/* since v4.8 */
	at[MEMTAP_RECLAIM_SCAN_KSWAPD] = events(PGSCAN_KSWAPD, 1);
	at[MEMTAP_RECLAIM_SCAN_DIRECT] = events(PGSCAN_DIRECT, 1);
	at[MEMTAP_RECLAIM_STEAL_KSWAPD] = events(PGSTEAL_KSWAPD, 1);
	at[MEMTAP_RECLAIM_STEAL_DIRECT] = events(PGSTEAL_DIRECT, 1);
#else						/* by zone */
	at[MEMTAP_RECLAIM_SCAN_KSWAPD] = events(PGSCAN_KSWAPD_NORMAL - ZONE_NORMAL, MAX_NR_ZONES);
	at[MEMTAP_RECLAIM_SCAN_DIRECT] = events(PGSCAN_DIRECT_NORMAL - ZONE_NORMAL, MAX_NR_ZONES);
	at[MEMTAP_RECLAIM_STEAL_KSWAPD] =
		events(PGSTEAL_KSWAPD_NORMAL - ZONE_NORMAL, MAX_NR_ZONES);
	at[MEMTAP_RECLAIM_STEAL_DIRECT] =
		events(PGSTEAL_DIRECT_NORMAL - ZONE_NORMAL, MAX_NR_ZONES);
#endif
#ifdef HAVE_ALLOCSTALL_ZONES			/* since v4.10 */
	at[MEMTAP_RECLAIM_STALLS] = events(ALLOCSTALL_NORMAL - ZONE_NORMAL, MAX_NR_ZONES);
#else
	at[MEMTAP_RECLAIM_STALLS] = events(ALLOCSTALL, 1);
#endif
	at[MEMTAP_RECLAIM_SWAP_IN] = events(PSWPIN, 1);
	at[MEMTAP_RECLAIM_SWAP_OUT] = events(PSWPOUT, 1);
}
#else
void memtap_reclaim_counters(u64 at[MEMTAP_NR_RECLAIM])
{
	u32 i;

	for (i = 0; i < MEMTAP_NR_RECLAIM; i++)
		at[i] = MEMTAP_OOM_UNKNOWN;
}
#endif
