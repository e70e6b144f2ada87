/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SELFTEST_WATCH_H
#define _SELFTEST_WATCH_H

#include "selftest/selftest.h"
#include "watch/watch.h"

/* The machinery of the watching commands, without their reports. */

/* Of a program (@argv), or of a process; NULL: no memory. */
struct watch *st_watch_new(struct st_run *r, const struct question *q, char **argv, pid_t pid);
/* STOP, and the last snapshot. */
int st_watch_stop(struct watch *w);
/* Closes the device: all probes are gone. */
void st_watch_close(struct watch *w);
void st_watch_free(struct watch *w);

/* The program that this is. */
void st_own_path(char *path, size_t len);

void st_put_account(struct st_run *r, const struct snap *s, const char *name);

#endif
