/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TRIAGE_OOM_H
#define _TRIAGE_OOM_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "uapi/memtap.h"

/*
 * The cause of an OOM kill, from its record.  Pure logic: does not read this machine.
 */
enum oom_cause {
	OOM_UNKNOWN,		/* no single cause */
	OOM_SYSRQ,		/* requested by SysRq f */
	OOM_FRAGMENTED,		/* enough is free, in blocks that are too small */
	OOM_SHARED,		/* tmpfs, shared memory */
	OOM_KERNEL,		/* kernel memory */
	OOM_HUGE,		/* reserved for huge pages */
	OOM_LOCKED,		/* mlock(), and swap was free */
	OOM_PROCESS,		/* one process */
	OOM_PROCESSES,		/* many processes of one name */
	OOM_CACHE,		/* in a cgroup: page cache, or memory its processes do not hold */
	NR_OOM_CAUSE
};

extern const char *const oom_cause_names[NR_OOM_CAUSE];

/*
 * @limited: memory was limited by a cgroup or to some nodes; @cause is about that part.
 * @sentence: the diagnosis, as text.  @command: what to run next, @tells: what it shows.
 */
struct oom_why {
	enum oom_cause cause;
	bool limited;
	const char *kind;		/* the largest charge of a cgroup, "page-tables"; or NULL */
	char sentence[2048];
	char command[1200];
	const char *tells;
};

/* Sanitizes an untrusted record of @len bytes: counts within bounds, strings terminated. */
void oom_clean(struct memtap_oom_record *r, size_t len);

void oom_diagnose(const struct memtap_oom_record *r, struct oom_why *w);

/* The memory that the kernel counts for a process: anon, file, shared, swap, page tables. */
__u64 oom_task_size(const struct memtap_oom_task *t);
/* Is the victim's OOM score known? */
bool oom_points_known(const struct memtap_oom_record *r);
/* The path of the cgroup that reached its limit; "": unknown. */
static inline const char *oom_limit_path(const struct memtap_oom_record *r)
{
	return *r->limit_long ? r->limit_long : r->limit_path;
}

/* A charge of the cgroup, by MEMTAP_CHARGED_*; 0 where it is unknown. */
__u64 oom_charge(const struct memtap_oom_record *r, unsigned int kind);
/* Was memory.stat read before the victim freed anything, as far as can be known? */
bool oom_charged_whole(const struct memtap_oom_record *r);
/* Were only some nodes allowed, and does the record have their counters? */
bool oom_of_nodes(const struct memtap_oom_record *r);
/* A counter by MEMTAP_VM_*; 0 where it is unknown. */
__u64 oom_counter(const struct memtap_oom_record *r, unsigned int vm);
/* Memory that is neither free nor in any counter; 0 where it is unknown. */
__u64 oom_unaccounted(const struct memtap_oom_record *r);

/* Makes the test record. */
void oom_make(struct memtap_oom_record *r, __u64 real_ns);

#endif
