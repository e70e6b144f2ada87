/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of the slab allocators.  TP_X(name, fn) defines the probe "name" with the
 * prototype that this kernel uses; it calls fn().
 *
 * Each probe keeps a frame of its own: its caller's stack is found from there.
 */
#ifndef _COMPAT_TRACE_KMEM_H
#define _COMPAT_TRACE_KMEM_H

#include <linux/slab.h>
#include <trace/events/kmem.h>

#include "compat/slab.h"
#include "compat/tracepoint.h"

/* fn(frame, call_site, ptr, cache or NULL, KMEM_SIZES() or 0, gfp): it was handed out */
#if defined(HAVE_KMALLOC_NODE_ARG)		/* since v6.1 */
#define TP_KMALLOC(name, fn)						\
static void name(void *data, unsigned long call_site, const void *ptr,	\
		 size_t req, size_t bytes, gfp_t gfp, int node)		\
{									\
	fn(__builtin_frame_address(0), call_site, ptr, NULL,		\
	   KMEM_SIZES(req, bytes), gfp);				\
}									\
MEMTAP_TP_CHECK(kmalloc, name);

#define TP_KMEM_CACHE_ALLOC(name, fn)					\
static void name(void *data, unsigned long call_site, const void *ptr,	\
		 struct kmem_cache *cache, gfp_t gfp, int node)		\
{									\
	fn(__builtin_frame_address(0), call_site, ptr, cache, 0, gfp);	\
}									\
MEMTAP_TP_CHECK(kmem_cache_alloc, name);

#define MEMTAP_TP_NODES		0		/* they are the ones above */
#elif defined(HAVE_KMALLOC_CACHE_ARG)		/* v6.0, RHEL 9 */
#define TP_KMEM_SIZED(event, name, fn, more...)				\
static void name(void *data, unsigned long call_site, const void *ptr,	\
		 struct kmem_cache *cache, size_t req, size_t bytes,	\
		 gfp_t gfp, ##more)					\
{									\
	fn(__builtin_frame_address(0), call_site, ptr, cache,		\
	   KMEM_SIZES(req, bytes), gfp);				\
}									\
MEMTAP_TP_CHECK(event, name);
#define MEMTAP_TP_NODES		1
#elif defined(HAVE_KMALLOC_PLAIN)		/* before v6.0 */
#define TP_KMEM_SIZED(event, name, fn, more...)				\
static void name(void *data, unsigned long call_site, const void *ptr,	\
		 size_t req, size_t bytes, gfp_t gfp, ##more)		\
{									\
	fn(__builtin_frame_address(0), call_site, ptr, NULL,		\
	   KMEM_SIZES(req, bytes), gfp);				\
}									\
MEMTAP_TP_CHECK(event, name);
#define MEMTAP_TP_NODES		1
#else
#error "tracepoint kmalloc: unknown prototype, add a probe in compat/probe"
#endif

#if MEMTAP_TP_NODES
#define TP_KMALLOC(name, fn)		TP_KMEM_SIZED(kmalloc, name, fn)
#define TP_KMALLOC_NODE(name, fn)	TP_KMEM_SIZED(kmalloc_node, name, fn, int node)
#define TP_KMEM_CACHE_ALLOC(name, fn)	TP_KMEM_SIZED(kmem_cache_alloc, name, fn)
#define TP_KMEM_CACHE_ALLOC_NODE(name, fn)				\
	TP_KMEM_SIZED(kmem_cache_alloc_node, name, fn, int node)
#endif

/* fn(frame, ptr): kfree() is about to free it; the same since v3.10 */
#define TP_KFREE(name, fn)						\
static void name(void *data, unsigned long call_site, const void *ptr)	\
{									\
	fn(__builtin_frame_address(0), ptr);				\
}									\
MEMTAP_TP_CHECK(kfree, name);

/*
 * fn(frame, ptr): kmem_cache_free() is about to free it.  Before v6.1 the tracepoint may
 * come when the object is somebody else's already, so there is none.
 */
#ifdef HAVE_KMEM_FREE_CACHE_ARG
#define MEMTAP_TP_KMEM_CACHE_FREE	1
#define TP_KMEM_CACHE_FREE(name, fn)					\
static void name(void *data, unsigned long call_site, const void *ptr,	\
		 const struct kmem_cache *cache)			\
{									\
	fn(__builtin_frame_address(0), ptr);				\
}									\
MEMTAP_TP_CHECK(kmem_cache_free, name);
#else
#define MEMTAP_TP_KMEM_CACHE_FREE	0
#endif

/* fn(frame, page or NULL, order, gfp): pages were handed out; the same since v3.10 */
#define TP_MM_PAGE_ALLOC(name, fn)					\
static void name(void *data, struct page *page, unsigned int order, gfp_t gfp, \
		 int migratetype)					\
{									\
	fn(__builtin_frame_address(0), page, order, gfp);		\
}									\
MEMTAP_TP_CHECK(mm_page_alloc, name);

/* fn(frame, page, order): they are about to be free; all ways of freeing come here */
#define TP_MM_PAGE_FREE(name, fn)					\
static void name(void *data, struct page *page, unsigned int order)	\
{									\
	fn(__builtin_frame_address(0), page, order);			\
}									\
MEMTAP_TP_CHECK(mm_page_free, name);

#endif
