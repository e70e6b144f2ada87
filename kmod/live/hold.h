/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_HOLD_H
#define _MEMTAP_HOLD_H

#include <linux/types.h>

#include "port/uapi.h"

struct memtap_holds;
struct memtap_session;

/* Threads that wait at a probe for the tool: MEMTAP_ATTACH_HOLD, MEMTAP_HELD. */
void memtap_holds_init(struct memtap_holds *w);
void memtap_holds_open(struct memtap_holds *w);
/* Nobody waits any more, and nobody will. */
void memtap_holds_close(struct memtap_holds *w);

/* Current waits, unless the session does not run or does not want it.  Sleeps. */
void memtap_hold(struct memtap_session *s, u32 event, u32 ms);

/* The same, of one that a signal ends, for MEMTAP_HELD_DEATH: also if it was told so. */
void memtap_hold_dying(struct memtap_session *s, u32 ms);

/* The ioctl: release one, tell of the next.  -ENOENT: there is none. */
int memtap_held(struct memtap_session *s, struct memtap_held *h);

#endif
