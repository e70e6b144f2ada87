/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_HEAP_STREAM_H
#define _MEMTAP_HEAP_STREAM_H

#include "live/live.h"

/* How far a snapshot has come with the live blocks. */
struct memtap_heap_cursor {
	u32 space;			/* of the last mapping */
	u64 start;
	union {				/* of one section */
		struct live chain[LIVETAB_CHAIN];
		struct peak_told peaks[32];
	};
};

/* The longest record of these sections, bytes. */
#define MEMTAP_BLOCKS_MAX	(sizeof(struct memtap_rec_blocks) + \
				 2 * LIVETAB_CHAIN * sizeof(struct memtap_block))

/* livetab_read() of the session's table, under memtap_enter(). */
u32 memtap_heap_read_chain(struct memtap_heap *h, u32 head, struct live *out);

/* A snapshot begins. */
void memtap_heap_rewind(struct memtap_session *s);

/*
 * Each writes one record to @buf, which has room for the longest one, and returns
 * it, or NULL when its section has no more.  *pos is 0 when a section begins.
 */
#define MEMTAP_HEAP_PUT(_name)						\
void *memtap_heap_put_##_name(struct memtap_session *s,			\
			      struct memtap_heap_cursor *c, u32 *pos,	\
			      void *buf, u32 room)

MEMTAP_HEAP_PUT(totals);
MEMTAP_HEAP_PUT(blocks);
MEMTAP_HEAP_PUT(maps);
MEMTAP_HEAP_PUT(mismatches);
MEMTAP_HEAP_PUT(spaces);
MEMTAP_HEAP_PUT(peaks);
MEMTAP_HEAP_PUT(peak);

/* objects_stream.c: of a session with MEMTAP_CFG_OBJECTS */
MEMTAP_HEAP_PUT(object_totals);
MEMTAP_HEAP_PUT(objects);
MEMTAP_HEAP_PUT(caches);

#endif
