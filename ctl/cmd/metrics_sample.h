/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_METRICS_SAMPLE_H
#define _CMD_METRICS_SAMPLE_H

#include "base/opt.h"
#include "machine/machine.h"
#include "session/others.h"

/*
 * What `memtap metrics` tells, of one moment after the other.  Growth counts since an earlier
 * moment: one of the history at first, if there is a history, then one of our own.
 */
struct metrics_sample {
	const struct opts *o;
	struct machine now, before, next;	/* next: will be before */
	bool has_now, has_before, has_next;
	bool past;			/* @before is of the history */
	struct others others;
	bool asked;			/* @others is known */
	__u64 began_ns;			/* reading @now, CLOCK_MONOTONIC */
	double took;			/* seconds */
};

void metrics_sample_init(struct metrics_sample *s, const struct opts *o);
void metrics_sample_free(struct metrics_sample *s);

/* Read this moment.  0 or an errno, negative or positive. */
int metrics_sample_take(struct metrics_sample *s);
/* False: no memory. */
bool metrics_sample_write(const struct metrics_sample *s, FILE *out, bool openmetrics);

/*
 * Whom a directory belongs to in which something is to be made: whoever else may write there
 * could put a link in its place.  0, or an exit status; @option and @dir: for the sentence.
 */
int metrics_check_dir(const char *cmd, const char *option, const char *dir);

#endif
