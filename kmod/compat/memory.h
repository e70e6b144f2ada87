/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_MEMORY_H
#define _COMPAT_MEMORY_H

#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/sched.h>

#include "port/uapi.h"

#ifdef HAVE_SCHED_SIGNAL			/* since v4.11 */
#include <linux/sched/signal.h>
#endif

/*
 * What the kernel counts anyway, read without a lock, in any context.  @at: by MEMTAP_VM_*,
 * bytes, and by MEMTAP_RECLAIM_*, since boot; MEMTAP_OOM_UNKNOWN where it does not count
 * that, or keeps it to itself.  @nodes: of these alone; NULL: of all.
 */
void memtap_vm_counters(u64 at[MEMTAP_NR_VM], const nodemask_t *nodes);
void memtap_reclaim_counters(u64 at[MEMTAP_NR_RECLAIM]);

/* Bytes that can be had without swapping, as MemAvailable; of any context but NMI. */
u64 memtap_available(void);

/* Averages of load, by 1000. */
void memtap_load(u32 load[3]);

static inline u64 memtap_zone_managed(struct zone *zone)
{
#ifdef HAVE_ZONE_MANAGED_PAGES			/* since v5.0 */
	return zone_managed_pages(zone);
#else
	return zone->managed_pages;
#endif
}

/*
 * Pages of one kind of a process.  @exact: also what CPUs have not yet added, which takes
 * longer; before v6.2 each thread keeps back up to 64 pages in any case.
 */
static inline u64 memtap_mm_pages(struct mm_struct *mm, int kind, bool exact)
{
#ifdef HAVE_MM_COUNTER_SUM			/* since v6.16 */
	if (exact)
		return get_mm_counter_sum(mm, kind);
#endif
	return get_mm_counter(mm, kind);
}

static inline u64 memtap_mm_shmem(struct mm_struct *mm, bool exact)
{
#ifdef HAVE_MM_SHMEMPAGES			/* since v4.5; before, they are files' */
	return memtap_mm_pages(mm, MM_SHMEMPAGES, exact);
#else
	return 0;
#endif
}

/* Those that the OOM killer of this kernel counts. */
static inline u64 memtap_mm_tables(struct mm_struct *mm)
{
#if defined(HAVE_MM_PGTABLES_BYTES)		/* since v4.15 */
	return mm_pgtables_bytes(mm);
#elif defined(HAVE_MM_NR_PMDS)			/* v4.0 to v4.14 */
	return (u64)(atomic_long_read(&mm->nr_ptes) + mm_nr_pmds(mm)) << PAGE_SHIFT;
#elif defined(HAVE_MM_NR_PTES_ATOMIC)		/* since v3.13 */
	return (u64)atomic_long_read(&mm->nr_ptes) << PAGE_SHIFT;
#else
	return (u64)mm->nr_ptes << PAGE_SHIFT;
#endif
}

#endif
