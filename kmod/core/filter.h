/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_FILTER_H
#define _CORE_FILTER_H

#include "port.h"

#define FILTER_COMM_LEN		16
#define FILTER_MAX_COMMS	16
#define FILTER_MAX_CGROUPS	64
#define FILTER_CGROUP_DEPTH	32

/*
 * A set of PIDs that grows (fork) and shrinks (exit) while it is read: open
 * addressing, slots claimed by cmpxchg.  A removed PID leaves a tombstone that
 * a later insert may reuse.
 */
struct pidset {
	u32 *slots;		/* 0 empty, ~0 tombstone, else the PID */
	u32 mask;		/* nr - 1, a power of two */
	u32 used;		/* live PIDs, atomic */
};

#define PIDSET_TOMBSTONE	(~0U)

void pidset_init(struct pidset *s, u32 *slots, u32 nr);	/* zeroed slots */
int pidset_has(const struct pidset *s, u32 pid);
int pidset_add(struct pidset *s, u32 pid);	/* 1 in (or was), 0 full */

/* Where it is looked for first, & mask. */
static inline u32 pidset_first(u32 pid)
{
	return (u32)((pid * 0x9e3779b97f4a7c15ULL) >> 32);
}

/* Without a search: 1: it is certainly not in; 0: it may be. */
static inline int pidset_lacks(const struct pidset *s, u32 pid)
{
	return !READ_ONCE(s->slots[pidset_first(pid) & s->mask]);
}

void pidset_del(struct pidset *s, u32 pid);

#define FILTER_ONLY_USER	(1U << 0)
#define FILTER_ONLY_KERNEL	(1U << 1)

/*
 * Settings of a session: immutable while it runs, but for the PIDs, which come and go.  Kinds that
 * have no item let everything pass; PIDs and TIDs are one kind.
 */
struct filter {
	u32 flags;		/* FILTER_ONLY_* */
	u32 nr_comms;
	u32 nr_cgroups;
	u32 has_pids;		/* PIDs or TIDs were given */
	u32 not_pid;		/* this process does not pass, whatever else; 0: all may */
	struct pidset pids;	/* processes */
	struct pidset tids;	/* single threads */
	u64 min_size;
	u64 max_size;		/* 0: none */
	char comms[FILTER_MAX_COMMS][FILTER_COMM_LEN];
	u64 cgroups[FILTER_MAX_CGROUPS];	/* | FILTER_CGROUP_V2 by kind */
	u8 cgroup_v2[FILTER_MAX_CGROUPS];
};

/*
 * What the filter looks at.  cgroup ids are asked for only when a session
 * filters by cgroup: @cgroups fills in the ids of the task's cgroup and its
 * ancestors, returns how many, at most FILTER_CGROUP_DEPTH.
 */
struct filter_task {
	u32 pid;
	u32 tid;
	const char *comm;	/* FILTER_COMM_LEN bytes */
	u32 (*cgroups)(void *ctx, u32 v2, u64 *ids);
	void *ctx;
};

/* Does the filter let this task's events through? */
int filter_task(const struct filter *f, const struct filter_task *t);

/* Is it the process that does not pass, and would if it were another one? */
int filter_not_task(const struct filter *f, const struct filter_task *t);

/*
 * Does it let through an event with this value, caused in user mode or not?
 * The size of a negative value counts; @has_value 0: the event has none.
 */
static inline int filter_event(const struct filter *f, u32 user, u32 has_value,
			       s64 value)
{
	u64 size;

	if ((f->flags & FILTER_ONLY_USER) && !user)
		return 0;
	if ((f->flags & FILTER_ONLY_KERNEL) && user)
		return 0;
	if (!has_value)
		return 1;
	size = value < 0 ? 0 - (u64)value : (u64)value;
	return size >= f->min_size && (!f->max_size || size <= f->max_size);
}

/* Is there an event that it does not let through, whoever's it is? */
static inline int filter_has_event(const struct filter *f)
{
	return f->flags || f->min_size || f->max_size;
}

#endif
