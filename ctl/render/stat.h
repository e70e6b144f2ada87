/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_STAT_H
#define _RENDER_STAT_H

#include <stdbool.h>
#include <stdio.h>

#include "snap/snap.h"

/* `memtap stat`: a line for each event. */
struct stat_opts {
	double seconds;
	bool json, timestamp, final;
	bool quiet;		/* no accounts, but for losses */
	bool verbose;		/* all accounts, also where nothing was lost */
	bool found;		/* a pattern found the events: the most frequent first, those that
				 * occurred; not in JSON */
};

void stat_header(FILE *out, const struct stat_opts *o);
void stat_print(FILE *out, const struct snap *s, const struct stat_opts *o);

/* The same events in several runs: what each counted, for mean and deviation. */
struct stat_runs;

struct stat_runs *stat_runs_new(void);	/* NULL: no memory */
void stat_runs_free(struct stat_runs *r);
/* One more run; 0 or -ENOMEM. */
int stat_runs_add(struct stat_runs *r, const struct snap *s, double seconds);
unsigned int stat_runs_nr(const struct stat_runs *r);
void stat_runs_print(FILE *out, const struct stat_runs *r, bool json);

#endif
