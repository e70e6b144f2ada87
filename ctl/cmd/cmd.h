/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_H
#define _CMD_H

#include <stddef.h>
#include "base/opt.h"

struct question;

/* Options that say which blocks are followed, and how: of leaks, and record --leaks. */
#define OPTS_FOLLOW	(OPT_TARGET | OPT_RUN | OPT_SIZES | OPT_WALK | OPT_BY | OPT_LEAKS)

/* One command: a row of the table in main.c. */
struct cmd {
	const char *name;
	const char *args;		/* for the usage line */
	const char *summary;
	const char *help;		/* further lines, or NULL */
	unsigned int options;		/* OPT_* */
	int (*run)(const struct cmd *cmd, struct opts *o);
	const struct question *question;
};

extern const struct cmd commands[];
extern const size_t nr_commands;

/* The command line as it was given, for reports. */
extern const char *command_line;

int cmd_help(const struct cmd *cmd, struct opts *o);
int cmd_list(const struct cmd *cmd, struct opts *o);
int cmd_load(const struct cmd *cmd, struct opts *o);
int cmd_unload(const struct cmd *cmd, struct opts *o);
int cmd_status(const struct cmd *cmd, struct opts *o);
int cmd_hooks(const struct cmd *cmd, struct opts *o);
int cmd_version(const struct cmd *cmd, struct opts *o);
int cmd_report(const struct cmd *cmd, struct opts *o);
int cmd_watch(const struct cmd *cmd, struct opts *o);
int cmd_selftest(const struct cmd *cmd, struct opts *o);
int cmd_unwind(const struct cmd *cmd, struct opts *o);

/* Questions for cmd_watch() */
extern const struct question question_stacks, question_faults, question_brk,
	question_mmap, question_stat, question_record, question_leaks;

#endif
