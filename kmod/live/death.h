/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_DEATH_H
#define _MEMTAP_DEATH_H

#include <linux/types.h>

struct memtap_session;
struct task_struct;

/*
 * MEMTAP_CFG_DEATHS: processes that a signal ends wait for MEMTAP_HELD, as at a
 * MEMTAP_ATTACH_HOLD, before they lose their memory.  MEMTAP_CFG_EXECS: those that
 * begin another program wait in the same way.
 */

/* At START, and at STOP: afterwards nobody waits, and nobody will.  Both sleep. */
int memtap_deaths_open(struct memtap_session *s);
void memtap_deaths_close(struct memtap_session *s);

/* Before the module goes: nobody is in the last instructions of a wait any more. */
void memtap_deaths_sync(void);

/*
 * @task is about to end by a signal; with @all every thread of its process waits.  Under
 * RCU, its siglock and the rules of a tracepoint.  A process with more threads than
 * there is room for is not held.
 */
void memtap_death(struct memtap_session *s, struct task_struct *task, bool all);

/*
 * MEMTAP_CFG_EXECS: @task, which is current and has a new program, waits before that runs.
 * Under RCU and the rules of a tracepoint.  With none of its places free it is not held.
 */
void memtap_exec_hold(struct memtap_session *s, struct task_struct *task);

#endif
