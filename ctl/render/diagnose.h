/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_DIAGNOSE_H
#define _RENDER_DIAGNOSE_H

#include <stdio.h>

#include "triage/diagnose.h"

/* A whole diagnosis, to be printed. */
struct diagnosis {
	const struct triage *t;		/* from the first moment to the last */
	const struct ask *asks;		/* those that follow, too */
	size_t nr_asks;
	const struct conclusion *conclusions;
	size_t nr_conclusions;
	const char *tool, *module;	/* versions; module NULL: it is not loaded */
	double planned;			/* seconds */
	bool interrupted, deep;
	const char *dir;		/* -o; or NULL */
	__u64 real_ns;			/* time of day; 0: it is not printed */
};

void render_diagnosis(const struct diagnosis *d, FILE *out);
void render_diagnosis_json(const struct diagnosis *d, FILE *out);

#endif
