/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_TOUCHED_H
#define _MEMTAP_TOUCHED_H

#include "record/listen.h"

struct memtap_session;
struct touchtab_hint;

/*
 * Who mapped the pages of address spaces: a session with MEMTAP_CFG_TOUCHED.  A page fault is
 * counted as any other; then the pages that it mapped are given the number of its counter,
 * which knows stack, task and all else.
 */
#define MEMTAP_DEFAULT_TOUCHED	(8ULL << 20)	/* 1.6 million pages, 6 GiB */

u64 memtap_touched_layout(u64 bytes);
/* May sleep.  At START; what it made, or nothing. */
int memtap_touched_init(struct memtap_session *s);
void memtap_touched_free(struct memtap_session *s);

/*
 * @hint: this CPU's.  @space: of the task, 0: it has none.  @who: a counter's slot.  Under
 * memtap_enter().
 */
void memtap_touch(struct memtap_session *s, struct touchtab_hint *hint, u32 space,
		  const struct memtap_touched_pages *p, u32 who);

/* mremap() has moved pages of current's: of those who listen with MEMTAP_FOLLOWS_MOVES. */
void memtap_touched_moved(const struct memtap_source *src, u64 from, u64 to, u64 pages);

/* Records; pos: slots that were read. */
void *memtap_touched_put(struct memtap_session *s, u32 *pos, void *buf, u32 room);
void *memtap_touched_put_sum(struct memtap_session *s, void *buf, u32 room);

#endif
