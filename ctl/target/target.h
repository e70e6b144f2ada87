/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TARGET_H
#define _TARGET_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/* What /proc/PID/stat tells. */
struct target_stat {
	char state;
	__u64 faults;		/* minor and major, of all threads */
	__u64 child_faults;	/* of children that were waited for */
	__u64 start;		/* in clock ticks after boot: tells PIDs apart */
};

bool target_parse_stat(const char *text, struct target_stat *st);
int target_stat(pid_t pid, struct target_stat *st);	/* -ESRCH */

/* A program that is started for us, stopped before execve(). */
struct target {
	pid_t pid;		/* 0: none */
	int go;			/* closing lets it die, a byte lets it run */
	int failed;		/* errno of execve() comes from here */
	bool released, ended;
	int status;		/* as of waitpid() */
	struct target_stat before, after;
	__u64 rss_before;	/* RSS at most, in bytes: before execve(), of what is ours */
	__u64 rss_most;		/* and until its end, which counts that, too */
	sigset_t mask;
	bool apart;		/* its standard output is our standard error */
	char path[4096];	/* what is executed */
};

/* As execvp() finds programs.  -ENOENT, -EACCES */
int target_find(const char *name, char *path, size_t len);

/*
 * From now on a pipe that nobody reads is an error of writing, not a signal.  Programs
 * that are launched find it as we found it.
 */
void target_ignore_pipe(void);

/* @mask: the signals that the program finds blocked; t->apart: set before, the rest is not */
int target_launch(struct target *t, char **argv, const sigset_t *mask);

/* Remembers the counters so far, lets it run; the errno of its execve(). */
int target_release(struct target *t);

/* Has it ended?  Takes its last counters, its status, and reaps it. */
bool target_ended(struct target *t);

/* Ends it if it still runs (SIGTERM), without waiting for ever. */
void target_close(struct target *t);

/* The name of the signal that ended it, as SIGABRT; NULL: none did. */
const char *target_killed_by(const struct target *t);

/* 0-255, and 128 + signal */
int target_exit_status(const struct target *t);

#endif
