/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_DIAGNOSE_H
#define _CMD_DIAGNOSE_H

#include <signal.h>

#include "triage/diagnose.h"

/* Programs that `memtap diagnose` runs, and waits for. */
struct runner {
	sigset_t set;			/* blocked: SIGINT, SIGTERM, SIGHUP, SIGCHLD */
	sigset_t before;
	bool interrupted;		/* one of these came: it is to end */
	bool deep;			/* however much it takes */
	void (*tick)(void *ctx);	/* now and then */
	void *ctx;
};

void runner_begin(struct runner *r);
void runner_end(struct runner *r);

/* false: interrupted. */
bool runner_sleep(struct runner *r, double seconds);

/*
 * Run @argv: this program for argv[0] "memtap", or one of PATH.  What it prints goes to the files
 * @out and @err, of which NULL is /dev/null.  It ends with us, and is killed after @seconds.  Its
 * exit status, or -1: it could not be run, or was killed.
 */
int runner_run(struct runner *r, const char *const argv[], const char *out, const char *err,
	       double seconds);

/*
 * Run `memtap record`, @argv, for ask->seconds at most.  Sets its end and .cpu.
 */
void runner_record(struct runner *r, const char *const argv[], const char *err, struct ask *ask);

#endif
