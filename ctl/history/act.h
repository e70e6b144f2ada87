/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ACT_H
#define _ACT_H

#include <sys/types.h>

#include "history/history.h"
#include "history/rules.h"

/*
 * What rules do: one action at a time, as a child process of the same program, whose output is a
 * file of a directory.  What was done, and why, is told once: @say, a line.
 */
#define ACT_DIR		"actions"	/* below the history's directory */
#define ACT_BUDGET	(128ULL << 20)	/* bytes of all files */

struct act {
	const char *dir;		/* of the actions: exists after act_begin() */
	__u64 budget;
	void (*say)(void *ctx, const char *line);
	void *ctx;

	pid_t pid;			/* 0: nothing is done */
	char rule[RULE_NAME], file[512];
	__u64 end_ns;			/* CLOCK_BOOTTIME: it must have ended by then */
	int signals;			/* that were sent to make it end */
};

/* Makes the directory.  -errno. */
int act_begin(struct act *a);
/*
 * The conditions of all rules at a sample, and the actions that begin.  @was: the sample before,
 * or NULL.  True: a level is near its value: look again soon.
 */
bool act_on(struct act *a, struct rules *rules, const struct machine *was,
	    const struct machine *m, const struct history_now *now);
/* Has the action ended, or must it?  To be called after each wait. */
void act_look(struct act *a, __u64 boot_ns);
/* Ends what is done now, and waits for it. */
void act_end(struct act *a);

#endif
