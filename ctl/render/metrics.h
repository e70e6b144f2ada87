/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_METRICS_H
#define _RENDER_METRICS_H

#include <stdio.h>

#include "machine/machine.h"
#include "session/others.h"

struct metrics_opts {
	FILE *out;
	/* OpenMetrics 1.0; else Prometheus' older text format, which node_exporter reads */
	bool openmetrics;
	size_t top;		/* holders of each kind at most; how many are left is a metric */
	const struct machine *before;	/* since when growth counts; NULL: growth is not told */
	double seconds;			/* since then */
	bool past;			/* @before is of a history, which leaves processes out */
	const struct others *others;	/* NULL: nothing is said of sessions */
	double took;			/* seconds to read all this */
	const char *version;		/* of the tool */
};

/*
 * One moment of a machine as metrics: base units, counters since boot.  What the kernel does
 * not say is left out.  false: no memory.
 */
bool render_metrics(const struct machine *m, const struct metrics_opts *o);

#endif
