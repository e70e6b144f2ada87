/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _UNTIL_H
#define _UNTIL_H

#include <signal.h>
#include <stdbool.h>

/* Wait until a condition, a signal or a timeout. */
struct until {
	double end;			/* 0: no limit */
	sigset_t open;			/* signals, while it waits */
};

/* @seconds: 0: no limit.  From now on SIGINT and SIGTERM end the waiting. */
void until_begin(struct until *u, double seconds);

/* False: it is over.  Else @fd may have @events, or a child has ended, or neither. */
bool until_wait(const struct until *u, int fd, short events);

/* As they were before, in a child. */
void until_forget(const struct until *u);

#endif
