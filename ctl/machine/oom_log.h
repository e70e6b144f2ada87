/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _MACHINE_OOM_LOG_H
#define _MACHINE_OOM_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "uapi/memtap.h"

/*
 * OOM kills from a saved kernel log, of any machine: the kernel's own reports, of 3.10 to 7.x, and
 * what memtap prints at a panic.  Lines may have the prefixes of dmesg, journalctl, syslog or a
 * serial console, and others between them; a report may lack its beginning or its end.
 */

/* What the text says of a kill. */
#define OOM_LOG_INVOKED		(1U << 0)	/* trigger, gfp, order */
#define OOM_LOG_TRIGGER		(1U << 1)	/* the trigger's PID, too */
#define OOM_LOG_CONSTRAINT	(1U << 2)	/* which memory was exhausted */
#define OOM_LOG_CHOSEN		(1U << 3)	/* victim */
#define OOM_LOG_KILLED		(1U << 4)	/* it was killed */
#define OOM_LOG_SIZED		(1U << 5)	/* the victim's memory */
#define OOM_LOG_SHMEM		(1U << 6)	/* shared memory apart from files' */
#define OOM_LOG_MEMORY		(1U << 7)	/* counters of the machine */
#define OOM_LOG_TOTAL		(1U << 8)	/* its size */
#define OOM_LOG_TABLE		(1U << 9)	/* the list of processes */
#define OOM_LOG_LIMIT		(1U << 10)	/* usage and limit of a cgroup */
#define OOM_LOG_STAT		(1U << 11)	/* what the cgroup is charged for */
#define OOM_LOG_PANIC		(1U << 12)	/* the kernel panicked */
#define OOM_LOG_MEMTAP		(1U << 13)	/* memtap's report at a panic */
#define OOM_LOG_ADJ		(1U << 14)	/* the victim's oom_score_adj */
#define OOM_LOG_UID		(1U << 15)	/* the victim's UID */
#define OOM_LOG_SCORE		(1U << 16)	/* the kernel's score of the victim: @score */
#define OOM_LOG_PAGE		(1U << 17)	/* the page size, which else is taken to be 4 KiB */
#define OOM_LOG_SWAP		(1U << 18)	/* the size of swap: @swap_total */
#define OOM_LOG_SPLIT		(1U << 19)	/* the list divides what is resident by kind */
#define OOM_LOG_BARE		(1U << 20)	/* a line that names the victim, and no report */
#define OOM_LOG_NODES		(1U << 21)	/* a machine, cpuset or policy: not said */
#define OOM_LOG_EARLIER		(1U << 22)	/* the last kill before a panic, by memtap */
#define OOM_LOG_NO_VICTIM	(1U << 23)	/* the kernel found none */

#define OOM_LOG_CACHES	5
#define OOM_LOG_STACK	24

struct oom_log_cache {
	char name[48];
	__u64 bytes;
};

/*
 * @r: what the text says, as a record has it, with MEMTAP_OOM_LOGGED; the rest is 0 or
 * MEMTAP_OOM_UNKNOWN.  @r.top[].flags: MEMTAP_OOM_TASK_SIZED only where the kinds are known; else
 * @anon is the least that it can have been, and @file the rest of what is resident.
 */
struct oom_log_kill {
	struct memtap_oom_record r;
	__u32 has;			/* OOM_LOG_* */
	__u32 score;			/* thousandths of @r.allowed */
	char when[40];			/* as the text has it; "": not said */
	char release[64];		/* of the kernel */
	char cpuset[128];
	char panic[160];		/* the panic's message */
	char reason[96];		/* why memtap reported at the panic */
	__u64 swap_total;
	__u64 rss;			/* of all processes in the list, bytes */
	__u32 caches_nr, stack_nr;
	struct oom_log_cache caches[OOM_LOG_CACHES];	/* unreclaimable slab, the largest first */
	char stack[OOM_LOG_STACK][64];	/* functions of the trigger's kernel stack */
	__u32 grown_nr;
	struct oom_log_cache grown[8];	/* objects that memtap watched, by what they grew */
};

struct oom_log {
	struct oom_log_kill *at;
	size_t nr, room;
	__u64 lines;			/* of the text */
};

/* Reads all of @f; only the last 10 000 kills are kept.  0 or -ENOMEM. */
int oom_log_read(FILE *f, struct oom_log *log);
void oom_log_free(struct oom_log *log);

#endif
