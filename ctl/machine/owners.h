/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _OWNERS_H
#define _OWNERS_H

#include "base/opt.h"
#include "machine/machine.h"

/*
 * The owners of memory: processes, and groups of them, by what smaps says.  PSS divides a shared
 * page among the processes that map it, so sums of PSS count it once.
 */

/* Why smaps of a process was not read. */
enum owner_unread { OWNER_READ, OWNER_LATE, OWNER_REFUSED, OWNER_GONE, OWNER_FAILED,
		    NR_OWNER_UNREAD };

/* A process, a group of processes, or a mapping of one process. */
struct owner {
	const char *name;		/* comm, program, user, cgroup, container, or what is
					 * mapped */
	const char *user, *cgroup;	/* of a process */
	__u32 pid;			/* of a group: the last one that was added */
	__u32 nr;			/* processes */
	__u32 unread;			/* of these: only what status says is known */
	__u64 v[NR_PS_SUMS];		/* bytes */
	__u64 *nodes;			/* resident bytes of each NUMA node; NULL: not asked for */

	/* of a mapping */
	__u64 start, end, offset, inode;
	__u32 dev_major, dev_minor;
	char perms[5];
	const char *flags;		/* "rd wr mr ..."; "" before v3.8 */
};

struct owners_ask {
	enum report_by by;		/* BY_PROCESS, PROGRAM, USER, CGROUP, CONTAINER, MAPPING */
	const struct opt_nums *pids;	/* these processes alone; none: all */
	const struct opt_strs *users, *cgroups;
	__u32 map;			/* each mapping of this process */
	bool numa;
};

#define OWNER_NODES	64		/* nodes of higher numbers are counted as "other" */

struct owners {
	struct owner *at;
	size_t nr, room;
	struct owner sum;		/* of all rows' processes */
	size_t unread[NR_OWNER_UNREAD];	/* processes, by reason */
	int error;			/* an errno of OWNER_FAILED */
	__u64 unread_rss;		/* bytes, as status says */
	bool has[NR_PS_SUMS];		/* this kernel says it, of some process */
	bool chosen;			/* some processes alone were asked for */
	bool mappings;			/* rows are of mappings, which have no page tables */
	const char *unknown_user;	/* -EINVAL: there is no user of this name */
	size_t numa_unread;		/* processes whose numa_maps was not read */
	__u32 nr_nodes;			/* the highest number and one */
};

/*
 * Of @m, which was read: its processes, and its names belong to it.  -ENOMEM; -ESRCH: a process
 * that was asked for is not there, or has no memory; -EINVAL:
 * @unknown_user.  Freed by owners_free() in any case.
 */
int owners_read(const struct machine_at *at, struct machine *m, const struct owners_ask *ask,
		struct owners *o);
void owners_free(struct owners *o);

/* A better name for a row of @m; without memory it keeps the one that it has. */
void owners_name(struct machine *m, struct owner *row, const char *name);

/* By a sum, the largest first; or mappings by address: @sort < 0. */
void owners_sort(struct owners *o, int sort);
/* Only rows whose name matches, or has @pattern in it where that is no pattern. */
void owners_keep(struct owners *o, const char *pattern);

#endif
