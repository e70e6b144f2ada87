/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TRIAGE_OOM_H
#define _TRIAGE_OOM_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "uapi/memtap.h"

/*
 * Why somebody was killed for want of memory, from the record of it: what the memory was
 * used for that could not be had.  Pure logic: nothing is asked of this machine.
 */
enum oom_cause {
	OOM_UNKNOWN,		/* nothing stands out */
	OOM_SYSRQ,		/* somebody asked for it */
	OOM_FRAGMENTED,		/* enough is free, in pieces that are too small */
	OOM_SHARED,		/* tmpfs, shared memory */
	OOM_KERNEL,		/* the kernel's own */
	OOM_HUGE,		/* set aside as huge pages */
	OOM_LOCKED,		/* mlock(), and swap was free */
	OOM_PROCESS,		/* one process */
	OOM_PROCESSES,		/* many, of one name */
	OOM_CACHE,		/* of a cgroup: page cache, or what its processes do not hold */
	NR_OOM_CAUSE
};

extern const char *const oom_cause_names[NR_OOM_CAUSE];

/*
 * @limited: the limit of a cgroup, or some nodes, was all there was; @cause is about that.
 * @sentence: for people, ends with a stop.  @command: what to run next, @tells: why.
 */
struct oom_why {
	enum oom_cause cause;
	bool limited;
	const char *kind;		/* of what a cgroup was charged for, "page-tables"; NULL */
	char sentence[2048];
	char command[1200];
	const char *tells;
};

/* Makes the record fit for reading, whoever wrote it: counts within bounds, strings ended. */
void oom_clean(struct memtap_oom_record *r, size_t len);

void oom_diagnose(const struct memtap_oom_record *r, struct oom_why *w);

/* What the kernel counts of a process: anon, file, shared, swap and page tables. */
__u64 oom_task_size(const struct memtap_oom_task *t);
/* Is it known by how much the victim was chosen? */
bool oom_points_known(const struct memtap_oom_record *r);
/* The path of the cgroup whose limit it was; "": not known. */
static inline const char *oom_limit_path(const struct memtap_oom_record *r)
{
	return *r->limit_long ? r->limit_long : r->limit_path;
}

/* What the cgroup was charged for, by MEMTAP_CHARGED_*; 0 where it is not known. */
__u64 oom_charge(const struct memtap_oom_record *r, unsigned int kind);
/* Was that read before the victim gave anything back, as far as can be known? */
bool oom_charged_whole(const struct memtap_oom_record *r);
/* Had some nodes only to serve: are the counters of these there? */
bool oom_of_nodes(const struct memtap_oom_record *r);
/* A counter by MEMTAP_VM_*; 0 where it is not known. */
__u64 oom_counter(const struct memtap_oom_record *r, unsigned int vm);
/* What is neither free nor counted as anything; 0 where that cannot be said. */
__u64 oom_unaccounted(const struct memtap_oom_record *r);

/* A record made by hand. */
void oom_make(struct memtap_oom_record *r, __u64 real_ns);

#endif
