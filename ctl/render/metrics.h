/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_METRICS_H
#define _RENDER_METRICS_H

#include <stdio.h>

#include "machine/machine.h"

struct metrics_opts {
	FILE *out;
	/* OpenMetrics 1.0; else Prometheus' older text format, which node_exporter reads */
	bool openmetrics;
	size_t top;		/* holders of each kind at most; the rest is summed up */
};

/*
 * One moment of a machine as metrics: base units, counters since boot.  What the kernel does
 * not say is left out.  false: no memory.
 */
bool render_metrics(const struct machine *m, const struct metrics_opts *o);

#endif
