/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SHOW_H
#define _SHOW_H

#include <pthread.h>

#include "base/out.h"
#include "cmd/oom.h"
#include "cmd/question.h"
#include "render/namer.h"
#include "render/caches.h"
#include "render/render.h"
#include "render/save.h"

/*
 * Print or save the snapshots of a session.  Functions return an exit status, and have printed the
 * error.
 */
struct show {
	const struct question *q;
	const struct opts *o;
	struct leaks_run *leaks;	/* or NULL */
	const struct plan *plan;	/* what was attached */
	bool launched;			/* a program was run */
	char title[256];
	char program[512];		/* the command line of who is watched, or "" */
	__u64 last_ns;			/* of the last report that was printed */
	const char *killed;		/* the signal that ended it, or NULL */
	char mark[512];			/* what there is to know of the marks asked for, or "" */
	char note[512];			/* the foot's line about faults, or "" */
	char shmem[256];		/* the same, about shared memory */
	char why[64];			/* as no_kinds */
	char objects[WATCH_OBJECTS_LINES][WATCH_OBJECTS_TEXT];	/* of the kernel's memory */
	size_t nr_objects;
	char forks[256];		/* who was started and not followed, or "" */
	struct oom_list ooms;		/* who was killed meanwhile: of a recording */
	struct stat_runs *runs;		/* --repeat: of all runs so far; or NULL */
	bool last_run;
	struct sym *sym;
	struct namer namer;		/* by it */
	struct jitmaps *jitmaps;	/* for names, or NULL */
	struct out out;
	char *path, *flame;		/* of options, with names of files; or NULL */
	pid_t pid;			/* of these */
	unsigned int file;		/* number of the one that is written; 0: there is one */
	pthread_mutex_t printing;	/* to out */
	struct snap *before, *now;	/* the last two snapshots */
	struct save_spans spans;	/* of a recording with intervals */
	struct save_liveds liveds;	/* the same, of live blocks */
	struct caches caches;		/* SHOW_CACHES: the last that were shown */
	struct report_past *past;	/* what the last interval had of live blocks */
	struct report_past *cohorts[2];	/* what lived at two moments, the later first; or NULL */
	struct machine_room room;	/* for what grows */
	struct machine_caches *slabs;	/* for the kernel's objects, once they are asked for */
	__u64 looked_ns;		/* memory was, or began to be, just before .now */
	double seconds;			/* from the start to the last one */
	__u32 intervals, lines;		/* SHOW_BESIDE: of a table so far */
	unsigned int reports;		/* that were written */
	__u32 numbers;			/* of massif's snapshots */
	bool header_done;		/* or the first of several reports */
};

/*
 * Whatever cannot be written is known before anything is attached.  @pid: of the program that was
 * started, which files may be named after; or 0.
 */
int show_open(struct show *s, const struct question *q, const struct opts *o, pid_t pid);
void show_free(struct show *s);

/* @snap becomes the last one. */
void show_take(struct show *s, struct snap *snap);
int show_interval(struct show *s);
/* The session has stopped: nothing changes any more. */
int show_final(struct show *s, bool last_interval);
/*
 * A recording that goes on in another file: what it would have now.  show_span() is the part of
 * the time since the last snapshot, where there are intervals.  @part: of s->now; *@bytes is to be
 * free()d.
 */
int show_span(struct show *s);
int show_bytes(struct show *s, const struct snap *part, char **bytes, size_t *len);
/* An error of who else writes to s->out: exit status. */
int show_failed(const struct show *s, int err);

/* Whose rows are told apart, unless --by says it: of children those of other programs. */
enum report_by show_by(const struct snap *s);

/* Can the format be written there?  An exit status. */
int show_check(const struct opts *o);

/* What a report is about, as the command line has it. */
struct render_opts show_render_opts(const struct opts *o);
/* ... and where it is about the kernel's objects */
void show_kernel_opts(struct render_opts *r, const struct opts *o);

#endif
