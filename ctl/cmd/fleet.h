/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_FLEET_H
#define _CMD_FLEET_H

#include "base/cmd.h"
#include "fleet/fleet.h"

/* Recordings that a command line names: files, and those of directories, in a fixed order. */
struct fleet_file {
	char *path;
	unsigned int side;
};

struct fleet_files {
	struct fleet_file *at;
	size_t nr, room;
	size_t skipped;			/* that could not be read: each was said */
	const char *first_skipped;
};

/* One more argument, of this group.  Exit status; why is printed. */
int fleet_files_add(struct fleet_files *files, const char *arg, unsigned int side);
void fleet_files_free(struct fleet_files *files);

/*
 * Read all of them, one after the other: what is damaged is named and left out.  Exit status of
 * what makes a result impossible; *@f is for fleet_free() in any case.
 */
int fleet_read(struct fleet_files *files, const struct cmd *cmd, const struct opts *o, bool names,
	       struct fleet **f);

/* Of --outliers and --hosts: options that say nothing there.  Exit status; why is printed. */
int fleet_check_opts(const struct cmd *cmd, const struct opts *o, const char *option);

int fleet_outliers(const struct cmd *cmd, struct opts *o);	/* report DIR --outliers */
int fleet_diff(const struct cmd *cmd, struct opts *o);		/* diff --hosts OLD NEW */

#endif
