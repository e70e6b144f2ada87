/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_PAGES_H
#define _COMPAT_PAGES_H

#include <linux/mm.h>
#include <linux/vmalloc.h>

/*
 * alloc_pages_bulk(gfp, node, nodemask, nr, [list,] array), if there is one: what it is
 * called, and which argument the array is.
 */
#if defined(HAVE_PAGES_BULK_NOPROF)		/* since v6.10 */
#define MEMTAP_BULK_NAME	"alloc_pages_bulk_noprof"
#if defined(HAVE_PAGES_BULK_LIST)		/* before v6.14 */
#define MEMTAP_BULK_ARRAY	5
#else
#define MEMTAP_BULK_ARRAY	4
#endif
#elif defined(HAVE_PAGES_BULK)			/* since v5.13 */
#define MEMTAP_BULK_NAME	"__alloc_pages_bulk"
#define MEMTAP_BULK_ARRAY	5
#endif

/* What an area has without the page behind it that guards it. */
static inline u64 memtap_area_bytes(const struct vm_struct *area)
{
#ifdef VM_NO_GUARD				/* since v3.12 */
	if (area->flags & VM_NO_GUARD)
		return area->size;
#endif
	return area->size - PAGE_SIZE;
}

/* May vfree_atomic() be called? */
#ifdef HAVE_VFREE_ATOMIC			/* since v4.10 */
#define MEMTAP_VFREE_ATOMIC	1
#else
#define MEMTAP_VFREE_ATOMIC	0
#endif

#endif
