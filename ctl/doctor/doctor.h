/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _DOCTOR_H
#define _DOCTOR_H

#include "machine/host.h"

/* Can memtap run here, and if not: what mends it?  Nothing is printed here. */

enum doctor_level { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_PROBLEM };

#define DOCTOR_COMMANDS	3

struct doctor_finding {
	const char *name;
	enum doctor_level level;
	char seen[256];		/* what is so */
	char mend[256];		/* what to do about it; "": nothing is to be done */
	char commands[DOCTOR_COMMANDS][192];	/* that do so, in this order */
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

/* All that is looked at, what is well too, in one order.  Both live as long as @d does. */
void doctor_look(struct doctor *d, const struct host *host, const char *version);

#endif
