/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _WHOM_H
#define _WHOM_H

#include "uapi/memtap.h"
#include "base/opt.h"
#include "target/target.h"

/*
 * The processes that a session records: from the command line, the launched program, and the
 * module's filter.  Functions that say so return an exit status, and have printed the error.
 */
struct whom {
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
void whom_init(struct whom *w, const struct opts *o);
void whom_free(struct whom *w);

/* Run the program, held back before its execve(); exit status.  @mask: target_launch(). */
/* Are the processes, threads and cgroups that were named there?  Needs no module. */
int whom_exist(const struct whom *w);
int whom_launch(struct whom *w, const sigset_t *mask);
/* Let it go; exit status. */
int whom_release(struct whom *w);

/* Make the filter; @features: MEMTAP_FEATURE_*, @cmd: for messages.  Exit status. */
int whom_filter(struct whom *w, __u64 features, const char *cmd);

/* The program's file, if one is run. */
const char *whom_program(const struct whom *w);
/* For a title: "process 12, comm x". */
void whom_name(const struct whom *w, char *buf, size_t len);
/* Is nobody left of those that were named? */
bool whom_gone(const struct whom *w);

#endif
