/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TARGETS_H
#define _TARGETS_H

#include "uapi/memtap.h"
#include "base/opt.h"
#include "target/target.h"

/*
 * The processes that a session records: from the command line, the launched program, and the
 * module's filter.  Functions that say so return an exit status, and have printed the error.
 */
struct targets {
	const struct opt_nums *pids, *tids;
	const struct opt_strs *comms, *cgroups;
	char **argv;			/* of a program to run, or NULL */
	bool system;			/* everybody, also while that runs */
	bool children;			/* also those of whom the filter names */
	bool apart;			/* what the program prints is none of our output */
	struct target target;		/* the program; pid 0: none */
	struct memtap_filter_item *items;
	__u32 nr_items;			/* 0: everybody */
};

/* Points into @o. */
void targets_init(struct targets *w, const struct opts *o);
void targets_free(struct targets *w);

/* Run the program, held back before its execve(); exit status.  @mask: target_launch(). */
/* Are the processes, threads and cgroups that were named there?  Needs no module. */
int targets_exist(const struct targets *w);
int targets_launch(struct targets *w, const sigset_t *mask);
/* Let it go; exit status. */
int targets_release(struct targets *w);

/* Make the filter; @features: MEMTAP_FEATURE_*, @cmd: for messages.  Exit status. */
int targets_filter(struct targets *w, __u64 features, const char *cmd);

/* The program's file, if one is run. */
const char *targets_program(const struct targets *w);
/* For a title: "process 12, comm x". */
void targets_name(const struct targets *w, char *buf, size_t len);
/* Is nobody left of those that were named? */
bool targets_gone(const struct targets *w);

#endif
