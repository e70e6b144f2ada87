/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_H
#define _RENDER_H

#include <stdbool.h>
#include <stdio.h>

#include "report/report.h"

/* How a report looks: render/ takes the rows of report/, and prints. */
enum render_format { FORMAT_TABLE, FORMAT_FOLDED, FORMAT_FLAME, FORMAT_JSON };

/* What to show and how; a command fills this in and asks for it. */
struct render_opts {
	struct report_opts rows;	/* .detail: set by render_report() */
	enum render_format format;
	bool by_given;			/* else folded stacks begin with a name only */
	bool calls;			/* folded, flame: calls, even where events have a value */
	bool blocks;			/* the same, of live blocks: blocks instead of bytes */
	bool timestamp;			/* print the time of day above */
	const char *title;		/* of the flame graph; also the table's first line */
	const char *command;		/* the command line that asked */
	const char *const *notes;	/* further lines for the foot, or NULL */
	bool summary;			/* table of live blocks: HEAP and LEAK SUMMARY */
	const char *no_kinds;		/* why it is not known which are lost: a sentence, or
					 * NULL */
};

/*
 * Write a report of @snap to @out.  The foot (table, JSON and flame graph) has
 * all events with seen, counted, filtered and every loss by reason, also when
 * all are zero.  Returns 0 or a negative errno (of writing).
 */
int render_report(const struct snap *snap, struct sym *sym, const struct render_opts *o,
		  FILE *out);

#endif
