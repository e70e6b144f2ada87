/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_SESSION_INT_H
#define _MEMTAP_SESSION_INT_H

/* Between session*.c; all under the session's lock, or when nobody else has it. */
#include "session/session.h"

#define MEMTAP_PIDSET_SLOTS	16384	/* four times what a filter may name: forks */

#define MEMTAP_PAIR_SLOTS	4096

/* sessions.c: one that begins to be, and one that ends */
void memtap_sessions_add(struct memtap_session *s);
void memtap_sessions_remove(struct memtap_session *s);
/* Of those that run; who takes one away waits for readers of the list himself. */
void memtap_sessions_run(struct memtap_session *s);
void memtap_sessions_halt(struct memtap_session *s);

/* config.c */
void memtap_session_free_filter(struct memtap_session *s);

/* tables.c: all that START will allocate, in bytes */
u64 memtap_session_bytes(const struct memtap_session *s);
int memtap_session_make_tables(struct memtap_session *s);
void memtap_session_free_tables(struct memtap_session *s);
/* what is kept of tasks and mappings; no hook tells of them any more */
void memtap_session_free_maps(struct memtap_session *s);

/* attach.c */
void memtap_session_free_events(struct memtap_session *s);
bool memtap_session_has_builtin_steps(const struct memtap_session *s);
int memtap_session_join_builtins(struct memtap_session *s);
/* Takes the built-in events away again: a START that failed may be repeated. */
void memtap_session_leave_builtins(struct memtap_session *s);
/* No hook is left; waits for the handlers that run. */
void memtap_session_put_hooks(struct memtap_session *s);

/* What is known of an event's hooks now, for the reports. */
void memtap_session_keep_hooks(struct memtap_session_event *e);

/* probes.c: one probe of an allocator's function */
struct memtap_session_probe {
	struct list_head node;
	struct memtap_hook *hook;
	u32 event;
	struct memtap_hook_state kept;	/* for the reports, after STOP */
};

int memtap_probes_add(struct memtap_session *s, struct memtap_hook *hook, u32 event);
/* The probe that was attached last; forget it: how many its event still has. */
struct memtap_hook *memtap_probes_last(struct memtap_session *s);
u32 memtap_probes_drop_last(struct memtap_session *s);
void memtap_probes_keep(struct memtap_session *s);
/* Taking all away goes in these steps; see memtap_session_put_hooks(). */
void memtap_probes_leave(struct memtap_session *s);
void memtap_probes_withdraw(struct memtap_session *s);
void memtap_probes_put(struct memtap_session *s);
void memtap_probes_free(struct memtap_session *s);

/* rings.c: MEMTAP_CFG_RING, MEMTAP_CFG_TRACE */
u64 memtap_rings_bytes(const struct memtap_session *s);
int memtap_rings_make(struct memtap_session *s);
void memtap_rings_free(struct memtap_session *s);
u64 memtap_rings_lost(const struct memtap_session *s);

/* gone.c: names of modules' code that a session's stacks have, when they go */
void memtap_gone_free(struct memtap_session *s);
void *memtap_gone_put(struct memtap_session *s, u32 *pos, void *buf, u32 room);

/* stats.c: calls that hook @j missed since START */
u64 memtap_session_missed(struct memtap_session_event *e, u32 j);

#endif
