/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_OOM_H
#define _MEMTAP_OOM_H

#include <linux/types.h>
#include <linux/wait.h>

#include "port/uapi.h"

/*
 * Records of OOM kills, from the module's beginning to its end.  What the kernel lacks for
 * that is no error: the hook says why, and there are no records.
 */
int memtap_oom_init(void);
void memtap_oom_exit(void);

/* Are they made? */
bool memtap_oom_works(void);

/*
 * The first record after @nr that is whole: copied to @to, *@lost: how many between them are
 * gone, *@more: there is a later one.  @stack: what was copied of the trigger's stack, or NULL:
 * it is not wanted.  -ENOENT: there is none (yet).  May sleep.
 */
int memtap_oom_next(u64 nr, struct memtap_oom_record *to, struct memtap_oom_stack *stack,
		    u64 *lost, bool *more);

/* Is there one after @nr that memtap_oom_next() would give? */
bool memtap_oom_is_next(u64 nr);

/* @fn is called with the number of each one that comes to be whole, by a work; NULL: nobody. */
void memtap_oom_notify(void (*fn)(u64 nr));

/* Woken when there is one more. */
extern wait_queue_head_t memtap_oom_wait;

/*
 * At a panic, when no other CPU runs: the newest record, whole or not, or NULL; what a record says
 * of the machine now, or NULL, and then of its largest processes, with current as @trigger.  Any
 * context.  Processes are looked at only where memory is what the panic is about: their list may
 * be what is broken.
 */
const struct memtap_oom_record *memtap_oom_newest(void);
struct memtap_oom_record *memtap_oom_survey(void);
void memtap_oom_survey_processes(void);

/* Bytes that all this takes. */
u64 memtap_oom_bytes(void);

#endif
