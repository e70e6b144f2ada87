/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _BASE_CMD_H
#define _BASE_CMD_H

#include "base/opt.h"

struct question;			/* cmd/question.h: of those that watch */

/* One command: a row of the table in main.c. */
struct cmd {
	const char *name;
	const char *args;		/* for the usage lines, separated by " | " */
	const char *summary;		/* a sentence without its full stop */
	__u64 options;			/* OPT_* */
	int (*run)(const struct cmd *cmd, struct opts *o);
	const struct question *question;
};

#endif
