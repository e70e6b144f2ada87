/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _DOCTOR_H
#define _DOCTOR_H

#include "machine/host.h"

/* Checks whether memtap can run here, and how to fix what is missing.  Prints nothing. */

enum doctor_level { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_PROBLEM };

#define DOCTOR_COMMANDS	3

struct doctor_finding {
	const char *name;
	enum doctor_level level;
	char seen[256];		/* the finding */
	char mend[256];		/* the fix; "": nothing to do */
	char commands[DOCTOR_COMMANDS][192];	/* of the fix, in order */
	unsigned int nr_commands;
};

#define DOCTOR_FINDINGS	32

struct doctor {
	const struct host *host;
	const char *version;		/* the tool's */
	struct doctor_finding found[DOCTOR_FINDINGS];
	size_t nr_found;
	unsigned int problems, notes;
};

/* Runs all checks; also adds those that pass.  @h and @version must outlive @d. */
void doctor_look(struct doctor *d, const struct host *host, const char *version);

#endif
