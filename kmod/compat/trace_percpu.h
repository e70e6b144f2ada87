/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of memory for each processor, as of compat/trace_kmem.h.  Some kernels have
 * none (from v3.11 to v4.12, but for those of RHEL 7).
 */
#ifndef _COMPAT_TRACE_PERCPU_H
#define _COMPAT_TRACE_PERCPU_H

#include <linux/gfp.h>
#include <linux/percpu.h>

#ifdef HAVE_PERCPU_EVENTS
#include <trace/events/percpu.h>

#include "compat/tracepoint.h"

#define MEMTAP_TP_PERCPU	1

/* fn(frame, call_site or 0, ptr, bytes of one processor, gfp) */
#ifdef HAVE_PERCPU_CALL_SITE			/* since v6.1 */
#define TP_PERCPU_ALLOC(name, fn)					\
static void name(void *data, unsigned long call_site, bool reserved, bool is_atomic, \
		 size_t size, size_t align, void *base, int off, void __percpu *ptr, \
		 size_t bytes, gfp_t gfp)				\
{									\
	fn(__builtin_frame_address(0), call_site,			\
	   (const void *)(__force unsigned long)ptr, size, gfp);	\
}									\
MEMTAP_TP_CHECK(percpu_alloc_percpu, name);
#else
#define TP_PERCPU_ALLOC(name, fn)					\
static void name(void *data, bool reserved, bool is_atomic, size_t size, size_t align, \
		 void *base, int off, void __percpu *ptr)		\
{									\
	fn(__builtin_frame_address(0), 0, (const void *)(__force unsigned long)ptr, size, \
	   is_atomic ? GFP_NOWAIT : GFP_KERNEL);			\
}									\
MEMTAP_TP_CHECK(percpu_alloc_percpu, name);
#endif

/* fn(frame, ptr): it is free, but nobody else's yet */
#define TP_PERCPU_FREE(name, fn)					\
static void name(void *data, void *base, int off, void __percpu *ptr)	\
{									\
	fn(__builtin_frame_address(0), (const void *)(__force unsigned long)ptr);	\
}									\
MEMTAP_TP_CHECK(percpu_free_percpu, name);
#else
#define MEMTAP_TP_PERCPU	0
#endif

#endif
