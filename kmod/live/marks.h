/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_LIVE_MARKS_H
#define _MEMTAP_LIVE_MARKS_H

#include "live/stream.h"

struct memtap_session;

/* Any context; the session may run, or end meanwhile, but is not freed.  Errors as of the call. */
int memtap_mark_set(struct memtap_session *s, const char *name, u32 flags);

/*
 * Before START, under the session's lock: each hit of this event sets a mark, which others may
 * set, too.
 */
int memtap_mark_by_event(struct memtap_session *s, const char *name, u32 event);

/* When who has this birth was born, ns of CLOCK_MONOTONIC. */
u64 memtap_alloc_time_ns(const struct memtap_session *s, u32 birth);

MEMTAP_HEAP_PUT(marks);

#endif
