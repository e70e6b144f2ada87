/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_WATCH_H
#define _MEMTAP_WATCH_H

struct memtap_session;

/*
 * The flight recorder: sessions of the module's own, for people without the tool: one that
 * counts events, and one that follows objects of the kernel (groups slab, pages ...).  Module
 * parameters say what they watch, also while they run.
 */
int memtap_watch_init(void);
void memtap_watch_exit(void);

/* The session that counts, or NULL if there is none; valid until memtap_watch_put() */
struct memtap_session *memtap_watch_get(void);
/* The one that follows objects; only between these two */
struct memtap_session *memtap_watch_objects(void);
/* The same at a panic, when no other CPU runs: NULL where somebody was between these two. */
struct memtap_session *memtap_watch_stopped(void);
void memtap_watch_put(void);

#endif
