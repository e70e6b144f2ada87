/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_TRIAGE_H
#define _RENDER_TRIAGE_H

#include <stdio.h>

#include "triage/triage.h"

struct recorded;

struct triage_opts {
	FILE *out;
	bool color;		/* by how bad it is */
	bool json, line;	/* line: a document is one line */
	const struct machine *start;	/* of several intervals: the first moment; or NULL */
	__u64 real_ns;		/* time of day to be printed; 0: none */
	bool past;		/* and with its date: it is over */
	const struct recorded *recorded;	/* of a history, by the module; or NULL */
};

/* One screen, or one document. */
void render_triage(const struct triage *t, const struct triage_opts *o);
void render_census(const struct triage *t, const struct triage_opts *o);

#endif
