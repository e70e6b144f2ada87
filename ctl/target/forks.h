/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _FORKS_H
#define _FORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/*
 * Find descendants of the targets, by the kernel's process connector, which reports every process,
 * however short-lived.  It reports to root in the initial namespaces only.
 */
#define FORKS_NAMES	3		/* that are told */
#define FORKS_NAME	16

struct forks;

/* NULL: the kernel does not tell. */
struct forks *forks_start(const __u32 *pids, size_t nr);

struct forks_sum {
	__u64 started;			/* processes, no threads */
	bool at_least;			/* there were more reports than could be read */
	size_t running;			/* of these, now */
	pid_t running_pid;		/* one of them */
	size_t nr_names;
	char names[FORKS_NAMES][FORKS_NAME];	/* what they became, as far as it was seen */
	bool more_names;
};

/* What is known by now. */
void forks_get(struct forks *f, struct forks_sum *sum);
void forks_end(struct forks *f);

/* ---- its logic, for tests ---- */

struct forks_tree;

struct forks_tree *forks_tree_new(const __u32 *pids, size_t nr);
void forks_tree_free(struct forks_tree *t);
/* A thread or process @child of a thread group @tgid was made by one of group @parent. */
void forks_tree_fork(struct forks_tree *t, pid_t parent, pid_t child, pid_t tgid);
/* True: it is one that was started, and has a new name. */
bool forks_tree_exec(const struct forks_tree *t, pid_t tgid);
void forks_tree_name(struct forks_tree *t, const char *name);
void forks_tree_exit(struct forks_tree *t, pid_t pid, pid_t tgid);
void forks_tree_sum(const struct forks_tree *t, struct forks_sum *sum);

/* A sentence for the foot, or "" where there is nothing to say. */
void forks_text(const struct forks_sum *sum, bool followed, const char *who, char *text,
		size_t len);

#endif
