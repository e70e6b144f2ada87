/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _QUESTION_H
#define _QUESTION_H

#include "base/opt.h"
#include "render/matrix.h"
#include "render/each.h"
#include "render/lines.h"
#include "watch/watch.h"

enum question_show {
	SHOW_REPORT,
	SHOW_STAT,		/* a line for each event */
	SHOW_FILE,		/* nothing: it is kept */
	SHOW_DIST,		/* how often which value came */
	SHOW_EACH,		/* a line for each event, as it comes */
	SHOW_BESIDE,		/* several events beside each other, at intervals */
	SHOW_PUSH,		/* profiles for a receiver, at intervals */
	SHOW_CACHES,		/* a line for each cache of the kernel, or order of its pages */
};

struct pusher;

/*
 * A command is a choice of events, key, value and rendering.  Nothing else
 * tells the watching commands apart.
 */
struct question {
	const char *title;
	const struct watch_ask *ask;
	enum report_by by;
	enum question_show show;
	const struct lines_ask *lines;	/* SHOW_EACH: in which columns, or NULL */
	const struct matrix_ask *columns;	/* SHOW_BESIDE */
	const struct question *stacks, *hist;	/* the same with --stacks, --hist; or NULL */
	const struct question *record;	/* the same for `memtap record`; or NULL */
	enum each_form form;		/* SHOW_EACH */
	struct pusher *push;		/* SHOW_PUSH */
	const char *sums_only;		/* an event whose rows are shown with --all only */
};

/* run.c: from the program that is run to the last report; the exit status */
int question_run(const struct question *q, const struct opts *o, const char *cmd);

#endif
