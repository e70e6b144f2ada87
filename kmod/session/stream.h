/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_STREAM_H
#define _MEMTAP_STREAM_H

#include <linux/types.h>

struct memtap_session;
struct memtap_stream;

struct memtap_stream *memtap_stream_new(void);
void memtap_stream_free(struct memtap_stream *st);

/*
 * The next bytes of the session's snapshot into user memory; 0 once after END.
 * The caller holds the session's lock.  -EBUSY: it was not started.
 */
ssize_t memtap_stream_read(struct memtap_session *s, char __user *buf,
			   size_t count);

#endif
