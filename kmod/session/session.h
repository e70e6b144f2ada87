/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_SESSION_H
#define _MEMTAP_SESSION_H

/*
 * What can be done with one open file of /dev/memtap; what it consists of is in
 * record/recording.h, because all that records for it is below.
 */
#include "hooks/hooks.h"
#include "live/hold.h"
#include "port/uapi.h"
#include "record/recording.h"

/* Limit for one session, a module parameter: bytes. */
extern unsigned long memtap_max_mem;

struct memtap_session *memtap_session_new(void);
void memtap_session_free(struct memtap_session *s);

/*
 * The calls of the contract; the caller holds s->lock.  @items: @config's
 * filter, already in kernel memory.
 */
int memtap_session_configure(struct memtap_session *s,
			     struct memtap_config *config,
			     const struct memtap_filter_item *items);
/* @steps: @a's, in kernel memory and from kmalloc(), the session's from now on; or NULL. */
int memtap_session_attach(struct memtap_session *s, struct memtap_attach *a,
			  struct steps *steps);
/* Undoes the last ATTACH, before anything else is done. */
void memtap_session_detach(struct memtap_session *s, const struct memtap_attach *a);
int memtap_session_start(struct memtap_session *s);
/* EVENTS, in two steps: what was read is gone with the second. */
int memtap_session_events(struct memtap_session *s, struct memtap_events *a);
void memtap_session_events_done(struct memtap_session *s);
/* TRACE: the same, of calls of allocators */
int memtap_session_trace(struct memtap_session *s, struct memtap_trace *a);
int memtap_session_stop(struct memtap_session *s);
int memtap_session_stats(struct memtap_session *s, struct memtap_stats *st);

/* CPUs that came online while perf counted for the session, see hooks/perf.c. */
u64 memtap_session_cpus_late(struct memtap_session *s);

/* Brings kept[] of an event up to date while its hooks are attached. */
void memtap_session_hooks(struct memtap_session *s, u32 event);

/* Sums over CPUs and events, for poll() and the summary. */
void memtap_session_totals(struct memtap_session *s, u64 *counted, u64 *lost);

/* What 0 means in MEMTAP_CONFIGURE. */
void memtap_session_defaults(u64 *stacks, u64 *counters, u64 *tasks);
#define MEMTAP_DEFAULT_UNWIND	(16ULL << 20)
#define MEMTAP_DEFAULT_LIVE	(8ULL << 20)
#define MEMTAP_DEFAULT_OBJECTS	(24ULL << 20)	/* 570 000 objects */

u32 memtap_nr_sessions(void);

/* gone.c: at the module's init, and exit */
int memtap_gone_init(void);
void memtap_gone_exit(void);
/* "symbol+0xOFFSET [module]" of code that went; false: @addr is none of that.  May sleep. */
bool memtap_gone_name(struct memtap_session *s, u64 addr, char *to, size_t len);

/*
 * others.c: MEMTAP_OTHER.  @rows has room for a->nr_rows, which says afterwards how many there
 * are.  May sleep.
 */
int memtap_session_other(struct memtap_session *self, struct memtap_other *a,
			 struct memtap_other_row *rows);

/* Calls fn for each open session, under the sessions' lock. */
void memtap_for_each_session(void (*fn)(struct memtap_session *s, void *ctx),
			     void *ctx);

/*
 * ages.c: MEMTAP_AGES.  @to has room for a->nr regions, which says afterwards how many there
 * are.  May sleep.
 */
int memtap_ages_read(struct memtap_ages *a, struct memtap_ages_region *to);
int memtap_ages_flush(void);

/*
 * recorded.c: MEMTAP_RECORDED.  @rows: zeroed, room for @room.  Returns how many rows there are,
 * which may be more.  *@err: -ENOMEM, or 0.  May sleep.
 */
u32 memtap_recorded_read(struct memtap_recorded_row *rows, u32 room, int *err);

#endif
