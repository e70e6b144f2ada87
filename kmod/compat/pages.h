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

/* The flag of areas that may be in huge pages: their size is then rounded up to one. */
#ifdef VM_ALLOW_HUGE_VMAP			/* since v5.18 */
#define MEMTAP_HUGE_AREAS	VM_ALLOW_HUGE_VMAP
#else
#define MEMTAP_HUGE_AREAS	0UL
#endif
#ifndef VM_NO_GUARD				/* since v3.12 */
#define VM_NO_GUARD		0UL
#endif

/* May vfree_atomic() be called? */
#ifdef HAVE_VFREE_ATOMIC			/* since v4.10 */
#define MEMTAP_VFREE_ATOMIC	1
#else
#define MEMTAP_VFREE_ATOMIC	0
#endif

#endif
