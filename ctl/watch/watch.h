/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _WATCH_H
#define _WATCH_H

#include <pthread.h>

#include "leaks/run.h"
#include "base/opt.h"
#include "base/out.h"
#include "session/plan.h"
#include "render/render.h"
#include "session/session.h"
#include "snap/snap.h"
#include "sym/sym.h"
#include "unwind/tables.h"
#include "target/target.h"

enum watch_show {
	SHOW_REPORT,
	SHOW_STAT,		/* a line for each event */
	SHOW_FILE,		/* nothing: it is kept */
};

#define WATCH_EVENTS	4

/*
 * A command is a choice of events, key, value and rendering.  Nothing else
 * tells the watching commands apart.
 */
struct question {
	const char *title;
	const char *events[WATCH_EVENTS];	/* none: the command line has them */
	const char *more[WATCH_EVENTS];		/* with --all */
	__u32 stacks;				/* MEMTAP_CFG_[UK]STACK */
	enum report_by by;
	enum watch_show show;
	bool all_events;			/* every built-in one by default */
	bool leaks;				/* live blocks instead of counts */
};

#define WATCH_NOTES	8

struct watch {
	const struct question *q;
	const struct opts *o;
	const char *cmd;
	struct session session;
	struct plan plan;
	struct memtap_config config;
	struct memtap_filter_item *items;
	struct target target;		/* pid 0: none */
	struct tables tables;		/* MEMTAP_CFG_ROWS: of this session */
	struct serve *serve;		/* or NULL */
	struct leaks_run *leaks;	/* or NULL: live blocks are kept */
	struct leaks_trace *trace;	/* --trace */
	pthread_mutex_t reading;	/* snapshots */
	pthread_mutex_t printing;	/* to out */
	char title[256];
	char note[256];			/* the foot's line about faults */
	struct sym *sym;
	struct out out;
	struct snap *before, *now;	/* the last two snapshots */
	__u64 start_ns, last_ns;
	__u32 intervals;
	bool header_done;		/* or the first of several reports */
};

/* watch.c: all of it; the exit status */
int watch_run(struct watch *w);
__u64 watch_clock(void);		/* ns */
/* And its steps, for who asks something else meanwhile: hold a program back ... */
int watch_launch(struct watch *w, const sigset_t *mask);
/* ... from opening the device to MEMTAP_START ... */
int watch_prepare(struct watch *w);
/* ... and let it go. */
int watch_release(struct watch *w);

/* filter.c: whom to watch */
int watch_filter(struct watch *w);
void watch_title(struct watch *w);
bool watch_all_gone(struct watch *w);
/* Compare with what the launched program's own counters say. */
void watch_reconcile(struct watch *w, const struct snap *s);

/* rows.c: how user stacks are followed */
int watch_choose_unwind(struct watch *w, __u32 *flags);
void watch_prepare_rows(struct watch *w);
void watch_serve_rows(struct watch *w);
void watch_end_rows(struct watch *w);

/* leaks.c: live blocks; exit status */
int watch_begin_leaks(struct watch *w);
int watch_attach_leaks(struct watch *w);
void watch_start_trace(struct watch *w);
void watch_end_trace(struct watch *w);
/* After the session is closed. */
void watch_end_leaks(struct watch *w);
void watch_leaks_opts(const struct watch *w, struct render_opts *r, bool final);
/* The status of a program that has ended: --error-exitcode. */
int watch_leaks_status(struct watch *w, int status);
/* show.c: what is shown; exit status */
int watch_open_out(struct watch *w);
int watch_snapshot(struct watch *w);	/* as w->now */
int watch_interval(struct watch *w);
int watch_final(struct watch *w, bool last_interval);
int watch_trace_status(const struct watch *w);
void watch_free_out(struct watch *w);
struct render_opts watch_report_opts(const struct opts *o);

#endif
