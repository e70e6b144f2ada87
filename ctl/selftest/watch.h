/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SELFTEST_WATCH_H
#define _SELFTEST_WATCH_H

#include "selftest/selftest.h"
#include "watch/watch.h"

/* Run a session as the recording commands do, without their reports. */
struct st_watch {
	const struct watch_ask *ask;
	struct opts o;
	struct targets targets;
	struct plan plan;
	struct watch watch;
	struct snap *now;		/* the last snapshot */
};

/* Of a program (@argv), or of a process; NULL: no memory. */
struct st_watch *st_watch_new(struct st_run *r, const struct watch_ask *ask, char **argv,
			      pid_t pid);
int st_watch_start(struct st_watch *w);
int st_watch_snapshot(struct st_watch *w);
/* STOP, and the last snapshot. */
int st_watch_stop(struct st_watch *w);
/* Closes the device: all probes are gone. */
void st_watch_close(struct st_watch *w);
void st_watch_free(struct st_watch *w);

/* The program that this is. */
void st_own_path(char *path, size_t len);

void st_put_account(struct st_run *r, const struct snap *s, const char *name);

#endif
