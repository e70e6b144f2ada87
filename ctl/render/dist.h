/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _DIST_H
#define _DIST_H

#include <stdio.h>

#include "base/opt.h"
#include "session/args.h"
#include "snap/snap.h"

struct namer;

/*
 * Print distributions: how often each value of an argument occurred, as a table or histogram, for
 * each event, and for each process, thread, name or value of another argument.
 */
struct dist_event {
	const char *by;			/* the argument that tells apart, or NULL */
	const struct args_shown *shown;	/* it, where there is one */
	const char *value;		/* the argument that was made the value, or NULL */
	bool left_out;			/* it is not shown */
	bool log2;			/* its rows are powers of two, with a sign */
	const struct args *args;	/* all that it has, where several tell apart; or NULL */
};

struct dist_opts {
	bool hist;			/* histograms, else a table */
	bool merged;			/* whatever tells its events apart */
	bool joint;			/* all events are one */
	__u64 linear;			/* of this step, or 0: powers of two */
	enum report_by group;		/* PROCESS, THREAD, COMM, NONE */
	__u32 top;			/* rows or histograms of each event; 0: all */
	bool json, final, quiet;
	double seconds;
	struct namer *namer;		/* of addresses among them, or NULL */
	const struct dist_event *events;	/* by id; MEMTAP_MAX_EVENTS of them */
};

/* Returns 0 or -ENOMEM; what could not be written is for the caller to find out. */
int dist_print(const struct snap *s, const struct dist_opts *o, FILE *out);

/*
 * The same as a page: each event, in it who did it, in that each value or step of the
 * histogram, as wide as it was frequent.
 */
int dist_flame(const struct snap *s, const struct dist_opts *o, const char *title,
	       const char *command, FILE *out);

#endif
