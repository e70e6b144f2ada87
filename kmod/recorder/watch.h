/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_WATCH_H
#define _MEMTAP_WATCH_H

struct memtap_session;

/*
 * The flight recorder: a session of the module's own, for people without the
 * tool.  Module parameters say what it watches, also while it runs.
 */
int memtap_watch_init(void);
void memtap_watch_exit(void);

/* The recorder's session, or NULL if it is off; valid until memtap_watch_put() */
struct memtap_session *memtap_watch_get(void);
void memtap_watch_put(void);

#endif
