/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_H
#define _RENDER_H

#include <stdbool.h>
#include <stdio.h>

#include "report/report.h"

/* render/ prints the rows that report/ made. */

/* What stands below the rows of a table: what was seen, and what became of it. */
enum render_footer {
	FOOT_FITTING,		/* a line where all is whole; else all accounts */
	FOOT_LINE,		/* a line, whatever it says: of an interval */
	FOOT_WHOLE,		/* all accounts */
	FOOT_ALONE,		/* the same, and no rows: after the last interval */
};

/* What to show and how; a command fills this in and asks for it. */
struct render_opts {
	struct report_opts rows;	/* .detail: set by render_report() */
	enum report_format format;
	enum render_footer foot;
	bool calls;			/* folded, flame: calls, even where events have a value */
	bool blocks;			/* the same, of live blocks: blocks instead of bytes */
	bool timestamp;			/* print the time of day above */
	bool quiet;			/* table: no accounts, but for what was lost */
	bool csv;			/* JSON: only its rows will be read */
	bool line;			/* JSON: all on one, of several objects */
	unsigned int number;		/* of reports before this one in the same file */
	__u32 *numbers;			/* massif: of the next snapshot in it; or NULL */
	const char *title;		/* of the flame graph; also the table's first line */
	const char *command;		/* the command line that asked */
	const char *program;		/* the command line of what is watched, or NULL */
	__u64 last_ns;			/* when the report before this one was made, or 0 */
	bool bytes_as_time;		/* massif: time is bytes allocated and freed */
	const struct opt_strs *alloc_fns;	/* massif: functions that pass memory on; or NULL */
	const char *const *notes;	/* further lines for the foot, or NULL */
	bool since_last;		/* a difference is of two reports at intervals */
	bool summary;			/* table of live blocks: HEAP and LEAK SUMMARY */
	const char *no_kinds;		/* why it is not known which are lost: a sentence, or
					 * NULL */
};

/*
 * Write a report of @snap to @out.  JSON and flame graphs have all events with seen,
 * counted, filtered and every loss by reason, also when all are zero; a table, where
 * something is less than whole, or FOOT_WHOLE.  Returns 0 or a negative errno (of writing).
 */
int render_report(const struct snap *snap, struct sym *sym, const struct render_opts *o,
		  FILE *out);

/*
 * A pprof file for each group (o->rows.by): for receivers of profiles.  All have the same columns.
 * @labels: that all samples of the group have, beside none of their own; NULL-terminated pairs.
 * @comments: lines, NULL-terminated.  @duration_ns: the time that it is about; 0: as @snap has it.
 * @sample_bytes: --sample-bytes, or 0.  @put gets the file; what it returns, if not 0, ends all.
 */
struct render_profile {
	const char *const *labels, *const *comments;
	__u64 duration_ns, sample_bytes;
};

struct render_profiles {
	void (*describe)(void *ctx, const struct rgroup *g, struct render_profile *p);
	int (*put)(void *ctx, const struct rgroup *g, const void *bytes, size_t len);
	/* the kinds of its numbers, before the first file: "type", "unit" pairs */
	void (*types)(void *ctx, const char *const *pairs);
	void *ctx;
};

/* 0, a negative errno, or what put() returned. */
int render_profiles(const struct snap *snap, struct sym *sym, const struct render_opts *o,
		    const struct render_profiles *to);

/* One of two snapshots that are compared. */
struct render_side {
	const struct snap *snap;
	struct sym *sym;
	const char *name;		/* of its file */
	const char *title;		/* what was asked, or NULL */
};

/*
 * What changed from @sides[0] to @sides[1], in one of FORMATS_DIFF: only rows that did; graphs
 * draw the latter, coloured by the change.
 */
int render_diff(const struct render_side sides[2], const struct render_opts *o, FILE *out);

#define FORMATS_DIFF	(1U << FORMAT_TABLE | 1U << FORMAT_FOLDED | 1U << FORMAT_FLAME | \
			 1U << FORMAT_JSON)

/* Why this build has no such format, as a sentence; NULL: it has. */
const char *render_missing(enum report_format format);

#define RENDER_XML_UNFIT "--format xml is Memcheck's: it is for leaks of processes, and has no " \
			 "place for other events"

/* Why this format has no place for what @snap counted, as a sentence; NULL: it has. */
const char *render_unfit(const struct snap *snap, enum report_format format);

/* Why no sums of bytes are known that massif's time can be; NULL: they are. */
const char *render_no_bytes(const struct snap *snap);

#endif
