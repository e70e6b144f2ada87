/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints around what somebody waits for when there is no memory.  TP_X(name, fn) defines
 * the constant "name", the probe with the prototype that this kernel uses, which calls
 * fn(), or NULL where it has yet another one: that event is not to be had, then.
 *
 * Which of them it is says the type, so that this needs no facts.
 */
#ifndef _COMPAT_TRACE_RECLAIM_H
#define _COMPAT_TRACE_RECLAIM_H

#include <linux/gfp.h>

struct mem_cgroup;
struct compact_control;

#include <trace/events/vmscan.h>
#ifdef HAVE_COMPACTION_BEGIN			/* since v4.1 */
#include <trace/events/compaction.h>
#endif

#include "compat/tracepoint.h"

#define MEMTAP_TP_IS(event, probe)					\
	__builtin_types_compatible_p(typeof(&check_trace_callback_type_##event), \
				     typeof(void (*)(typeof(&(probe)))))

#define TP_RECLAIM_BEGIN(event, name, fn)				\
/* since v7.1 */							\
static __maybe_unused void name##_memcg(void *data, gfp_t gfp, int order, \
					struct mem_cgroup *memcg)	\
{									\
	fn();								\
}									\
/* since v5.2 */							\
static __maybe_unused void name##_gfp(void *data, int order, gfp_t gfp) \
{									\
	fn();								\
}									\
/* since v4.8 */							\
static __maybe_unused void name##_zone(void *data, int order, int may_writepage, \
				       gfp_t gfp, int zone)		\
{									\
	fn();								\
}									\
/* before v4.8 */							\
static __maybe_unused void name##_write(void *data, int order, int may_writepage, \
					gfp_t gfp)			\
{									\
	fn();								\
}									\
static void *const name = MEMTAP_TP_IS(event, name##_memcg) ? (void *)name##_memcg :	\
			  MEMTAP_TP_IS(event, name##_gfp) ? (void *)name##_gfp :	\
			  MEMTAP_TP_IS(event, name##_zone) ? (void *)name##_zone :	\
			  MEMTAP_TP_IS(event, name##_write) ? (void *)name##_write : NULL

#define TP_RECLAIM_END(event, name, fn)					\
/* since v7.1 */							\
static __maybe_unused void name##_memcg(void *data, unsigned long nr, struct mem_cgroup *memcg) \
{									\
	fn();								\
}									\
static __maybe_unused void name##_nr(void *data, unsigned long nr)	\
{									\
	fn();								\
}									\
static void *const name = MEMTAP_TP_IS(event, name##_memcg) ? (void *)name##_memcg :	\
			  MEMTAP_TP_IS(event, name##_nr) ? (void *)name##_nr : NULL

#ifdef HAVE_COMPACTION_BEGIN
#define TP_COMPACTION_BEGIN(name, fn)					\
/* since v6.1, or before */						\
static __maybe_unused void name##_cc(void *data, struct compact_control *cc,	\
				     unsigned long start, unsigned long end, bool sync) \
{									\
	fn();								\
}									\
static __maybe_unused void name##_pfn(void *data, unsigned long start,	\
				      unsigned long migrate, unsigned long free, \
				      unsigned long end, bool sync)	\
{									\
	fn();								\
}									\
static void *const name = MEMTAP_TP_IS(mm_compaction_begin, name##_cc) ? (void *)name##_cc : \
			  MEMTAP_TP_IS(mm_compaction_begin, name##_pfn) ? (void *)name##_pfn : \
			  NULL

#define TP_COMPACTION_END(name, fn)					\
static __maybe_unused void name##_cc(void *data, struct compact_control *cc,	\
				     unsigned long start, unsigned long end, bool sync, \
				     int status)			\
{									\
	fn();								\
}									\
static __maybe_unused void name##_pfn(void *data, unsigned long start,	\
				      unsigned long migrate, unsigned long free, \
				      unsigned long end, bool sync, int status) \
{									\
	fn();								\
}									\
static void *const name = MEMTAP_TP_IS(mm_compaction_end, name##_cc) ? (void *)name##_cc : \
			  MEMTAP_TP_IS(mm_compaction_end, name##_pfn) ? (void *)name##_pfn : \
			  NULL
#else
#define TP_COMPACTION_BEGIN(name, fn)					\
static __maybe_unused void (*const name##_is_not_here)(void) = fn;	\
static void *const name
#define TP_COMPACTION_END(name, fn)	TP_COMPACTION_BEGIN(name, fn)
#endif

#endif
