/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINES_H
#define _LINES_H

#include <stdio.h>

#include "session/plan.h"
#include "snap/snap.h"
#include "sym/sym.h"

/* Print single events in columns, one per line, and sums at the end, by process and by cgroup. */
enum lines_kind {
	LINES_LABEL,			/* of the pick that the event is for */
	LINES_MS,			/* @field in ns */
	LINES_NUMBER,
	LINES_KB,			/* @field in pages */
	LINES_SYMBOLS,			/* as the kernel calls it */
	LINES_WORDS,			/* as memtap calls it */
	LINES_RESULT,			/* as the kernel calls it, or what a function returned:
					 * "done", or the error */
	LINES_NODE, LINES_ZONE,		/* of the page frame that @field is */
	LINES_CGROUP,			/* of the task */
};

struct lines_column {
	const char *title, *key;	/* of the table; of JSON */
	int width;			/* < 0: to the left */
	enum lines_kind kind;
	const char *field;		/* an argument of the event */
	const char *names;		/* the tracepoint that names its values where the event
					 * does not, as what a function returns; or NULL */
};

struct lines_ask {
	const struct lines_column *columns;	/* title NULL ends them */
	const char *sum;		/* the argument that is summed, in pages, or NULL */
	const char *sum_title;
	const char *document;		/* what JSON calls a line */
};

struct lines_opts {
	__u64 start_ns, real_ns;	/* as of struct each_opts */
	bool unix_time;
	/* of each item of the plan, which event of the session it is; NULL: as attached */
	const __u32 *events;
	bool json, quiet;
	__u32 top;			/* of each sum; 0: all */
};

struct lines;

/* @plan has been attached, and stays. */
struct lines *lines_new(const struct lines_ask *ask, const struct lines_opts *o,
			const struct plan *plan);
void lines_free(struct lines *l);
void lines_header(const struct lines *l, FILE *out);
/* @snap: where its task is, or NULL. */
void lines_put(struct lines *l, const struct memtap_one *one, const struct snap *snap,
	       struct sym *sym, FILE *out);
void lines_sums(const struct lines *l, const struct snap *snap, struct sym *sym, FILE *out);

#endif
