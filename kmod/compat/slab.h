/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_SLAB_H
#define _COMPAT_SLAB_H

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/types.h>

/*
 * What the slab allocators keep to themselves: which cache an object is of, what that is
 * called, how much an object takes.  What struct kmem_cache and a slab's struct page look
 * like is not for modules since v5.17 and v6.8; where the three words are in them is found
 * out by a cache of our own, once, in a kernel of any version.
 */

/* May sleep.  0; -ENOENT: all stays unknown; -ENOMEM. */
int memtap_slab_learn(void);

/* Where they are in bytes; 0: not known. */
struct memtap_slab_places {
	u32 page_cache;			/* in struct page: struct kmem_cache * */
	u32 name;			/* in struct kmem_cache: const char * */
	u32 size;			/* u32 */
};

extern struct memtap_slab_places memtap_slab_places;

/* The cache of a live object, any context; NULL: of none, or not known. */
static inline const void *memtap_slab_cache(const void *ptr)
{
	const u32 at = READ_ONCE(memtap_slab_places.page_cache);
	struct page *page;

	if (!at)
		return NULL;
	page = virt_to_head_page(ptr);
	return PageSlab(page) ? READ_ONCE(*(const void **)((const char *)page + at)) : NULL;
}

/* Of a cache that has objects.  Any context; what its name is may not be freed under us. */
static inline const char *memtap_slab_name(const void *cache)
{
	const u32 at = memtap_slab_places.name;

	return at ? READ_ONCE(*(const char *const *)((const char *)cache + at)) : NULL;
}

/* Never 0: where it is not known, what an object was asked for with. */
static inline u32 memtap_slab_size(const void *cache)
{
	const u32 at = memtap_slab_places.size;

	return at ? READ_ONCE(*(const u32 *)((const char *)cache + at)) :
		    kmem_cache_size((struct kmem_cache *)cache);
}

/* Bytes that were asked for, and that it takes: one register.  No object has 4 GiB. */
#define KMEM_SIZES(asked, taken)	((u64)(u32)(asked) << 32 | (u32)(taken))
#define KMEM_ASKED(sizes)		((u32)((sizes) >> 32))
#define KMEM_TAKEN(sizes)		((u32)(sizes))

/* Does kfree_rcu() put objects into sheaves? */
#ifdef HAVE_SLAB_SHEAVES
#define MEMTAP_SLAB_SHEAVES	1
#else
#define MEMTAP_SLAB_SHEAVES	0
#endif

/*
 * What kmem_cache_alloc_bulk() returned: how many (all or none), since v6.18 whether; then
 * the rest of the register says nothing.
 */
#ifdef HAVE_ALLOC_BULK_BOOL
static inline bool memtap_all_of(unsigned long ret)
{
	return ret & 0xff;
}
#else
static inline bool memtap_all_of(unsigned long ret)
{
	return (int)ret > 0;
}
#endif

/* Must who asks for it not wait? */
static inline bool memtap_gfp_atomic(gfp_t gfp)
{
#ifdef __GFP_DIRECT_RECLAIM			/* since v4.4 */
	return !(gfp & __GFP_DIRECT_RECLAIM);
#else
	return !(gfp & __GFP_WAIT);
#endif
}

#endif
