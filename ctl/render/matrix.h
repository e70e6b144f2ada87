/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _MATRIX_H
#define _MATRIX_H

#include <stdio.h>

#include "base/opt.h"
#include "session/plan.h"
#include "snap/snap.h"
#include "sym/sym.h"

/*
 * Print several events side by side: a row for each interval or, within it, for each process, name
 * or cgroup.
 */
enum matrix_what {
	BESIDE_COUNT,
	BESIDE_SUM,			/* of the value */
	BESIDE_MS,			/* the same, of ns */
	BESIDE_AVG_MS, BESIDE_MAX_MS,
	BESIDE_PERCENT,		/* the sum of @label, of that of @of */
};

enum matrix_who { BESIDE_ALL, BESIDE_KSWAPD, BESIDE_OTHERS };

struct matrix_column {
	const char *title, *key;	/* of the table; of JSON */
	int width;
	enum matrix_what what;
	const char *label, *of;		/* of the picks */
	enum matrix_who who;
};

struct matrix_ask {
	const struct matrix_column *columns;	/* title NULL ends them */
	const char *order;		/* rows with the most events of this label come first */
	const char *hists[4];		/* labels whose histograms follow at the end */
	const char *keyed, *yield;	/* labels: by the function that the events are told apart
					 * by, time and what it freed; or NULL */
	const char *keyed_title;
	bool keyed_bytes;		/* bytes that were given, and asked for, in their place */
	const char *pending;		/* label of calls that are under way, */
	const char *pending_text;	/* "wait for ..."; or NULL */
	const char *document;		/* what JSON calls a row */
};

struct matrix_opts {
	enum report_by by;
	__u32 top;			/* rows; 0: all */
	bool json, quiet, final;
	bool header;			/* print it, where there is one row an interval */
	double seconds;
	const struct plan *plan;
};

/* Returns 0 or -ENOMEM. */
int matrix_print(const struct matrix_ask *ask, const struct matrix_opts *o,
		 const struct snap *s, struct sym *sym, FILE *out);

#endif
