/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_VALLOC_H
#define _COMPAT_VALLOC_H

#include <linux/gfp.h>
#include <linux/types.h>

#ifndef __GFP_ACCOUNT				/* before v4.5 */
#define __GFP_ACCOUNT	((__force gfp_t)0)
#endif

/*
 * For what a caller can make large, or many of.  It fails where there is no memory: the
 * kernel reclaims, kills no process and logs nothing.
 */
#ifdef __GFP_RETRY_MAYFAIL			/* since v4.13; before, its bit would kill */
#define MEMTAP_GFP		(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)
#define MEMTAP_GFP_TRIES	1
#else						/* reclaims once, which others may profit of */
#define MEMTAP_GFP		(GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN)
#define MEMTAP_GFP_TRIES	8
#endif
/* The same, charged to the memory cgroup of who calls. */
#define MEMTAP_GFP_CHARGED	(MEMTAP_GFP | __GFP_ACCOUNT)

/*
 * memtap_vzalloc() - zeroed memory for tables and copies, as vzalloc()'s, but as above
 *
 * vmalloc() itself passes such flags on to pages alone: page tables and the records of its
 * areas are taken as every kernel from 3.10 to 7.2 takes them, with GFP_KERNEL, and for these
 * it may kill.  So the pages are taken here, and are mapped with what the kernel keeps back
 * for who frees memory: a page for each 2 MiB.
 *
 * Nothing is taken where the machine would have too little left (memtap_has_memory()).  May
 * sleep; ends early where current is being killed.  For memtap_vfree() alone, which may
 * sleep, too.
 */
void *memtap_vzalloc(u64 bytes);
/* On a node, if it has room; NUMA_NO_NODE: on any. */
void *memtap_vzalloc_node(u64 bytes, int node);
/* For the module's own life: in no cgroup's account. */
void *memtap_vzalloc_own(u64 bytes, int node);
void memtap_vfree(const void *mem);

/* Is so much available, and what others need at once besides? */
bool memtap_has_memory(u64 bytes);

#endif
