/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LEAKS_RUN_H
#define _LEAKS_RUN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "alloc/alloc.h"
#include "base/opt.h"
#include "snap/snap.h"
#include "leaks/suppress.h"
#include "unwind/tables.h"
#include "leaks/verify.h"

/*
 * A running session that keeps live blocks: files with allocators, their probes, paused threads,
 * and the state at the end of a program.  Functions that say so return an exit status, and have
 * printed the error.
 */
#define LEAKS_TEXT	512
#define LEAKS_NO_EXIT	"the program did not end by exit()"	/* for no_kinds */

/* What is shown of a program that has ended, unless all is asked for. */
#define LEAKS_LOST	(1U << LEAK_UNKNOWN | 1U << LEAK_DEFINITE | 1U << LEAK_INDIRECT | \
			 1U << LEAK_POSSIBLE)

/* A file that was announced, and whose process will wait for us in a moment. */
#define LEAKS_POSTPONED	32

struct leaks_postponed {
	int fd;
	char *path;
	__u64 since;			/* ns */
};

/* A mapping, when it was looked at last. */
struct leaks_resident {
	__u64 addr, resident, swapped;
	__u32 space;
};

struct leaks_run {
	int dev;
	const struct opts *o;
	const struct memtap_filter_item *items;	/* whom the session watches */
	size_t nr_items;
	__u64 features;
	const char *program;		/* that is launched, or NULL */
	bool rows;			/* tables are wanted, too */
	struct tables *tables;
	pthread_mutex_t *reading;	/* of snapshots: one stream for all threads */

	struct alloc_opts alloc;
	struct alloc_spec *specs;
	bool *spec_found;
	struct suppress *suppress;	/* of options; later of programs, too */

	pthread_mutex_t lock;		/* of what follows */
	struct verify_file *files;	/* that were looked at */
	size_t nr_files, room_files;
	__u64 dlopen_events, exit_events;	/* masks */
	size_t functions, single_stepped, refused;
	size_t late, late_functions;
	char names[LEAKS_TEXT];		/* of files with functions */
	char *known;			/* suppressions of programs (suppress_program.c), */
	size_t known_used;		/* so much of which is in .suppress */
	char known_why[LEAKS_TEXT];	/* those that were not read */
	char stepped[LEAKS_TEXT], late_names[LEAKS_TEXT], unopened_names[LEAKS_TEXT];

	struct leaks_postponed postponed[LEAKS_POSTPONED];	/* of the serving thread alone */
	size_t nr_postponed;

	struct snap_reach *reach;	/* what the ends of processes showed */
	size_t nr_reach;
	pid_t died;			/* by a signal, the last of them: it was looked at, */
	__u32 died_space;		/* in this address space */
	struct snap_reach *live;	/* what --unreachable showed of those that go on */
	size_t nr_live;
	struct snap_held *helds;	/* --retained: .held of .live */
	size_t nr_helds;
	struct leaks_resident *residents;
	size_t nr_residents, room_residents;
	__u64 resident_ns;		/* so long it took for those that live */
	struct leaks_look *looks;	/* each of which led to some of these */
	size_t nr_looks;
	__u64 needs_ns;			/* it needs about so long for that; 0: not known yet */
	char left[LEAKS_TEXT];		/* what was not looked at, for the foot */
	char look[LEAKS_TEXT];		/* a line about it for the foot, */
	char look_why[LEAKS_TEXT];	/* or why there is nothing */
	char held_why[LEAKS_TEXT];	/* why kinds and holders are not known */
	const char *no_kinds;		/* why they did not */
	bool foreign;			/* some of 32 bits */
	bool go;			/* a Go program, with some C linked to it */
	bool started;			/* MEMTAP_START: probes are late now */
	bool holding;			/* but not where somebody waits for them */
	__u64 since;			/* clock ticks after boot */
};

/* run.c */
/* Totals of stacks are wanted: MEMTAP_CFG_PEAK. */
static inline bool leaks_totals(const struct opts *o)
{
	return o->peak || o->temporary || o->allocated || o->format == FORMAT_HEAPTRACK;
}

int leaks_check_totals(const struct opts *o, const char *cmd);	/* exit status */
int leaks_check(const struct opts *o, const char *cmd, bool record);	/* exit status */
__u32 leaks_config(struct memtap_config *c, const struct opts *o, __u64 features);
/* Is each block followed, of whatever size and from whatever allocator? */
bool leaks_all_followed(const struct opts *o);

/* Those of --suppressions; says which have no effect.  An exit status. */
int leaks_suppressions(const struct opt_strs *files, struct suppress **s);
int leaks_begin(struct leaks_run *r, const char *cmd, const struct opts *o);	/* exit status */
void leaks_free(struct leaks_run *r);
bool leaks_is_of_32_bits(const char *path);
/* All that can be told before START; exit status. */
int leaks_prepare(struct leaks_run *r);
/* Lines for the report's foot; how many. */
size_t leaks_notes(struct leaks_run *r, char (*notes)[LEAKS_TEXT], size_t room);
/* After close(): is everybody's code as it was?  Says so.  @last may be NULL. */
void leaks_verify(const struct leaks_run *r, const struct snap *last);

/* run_files.c */
/* Probes on the functions of an open file; each file once.  -errno of the device. */
int leaks_take_file(struct leaks_run *r, const char *path, int fd);
void leaks_take_process(struct leaks_run *r, pid_t pid);
int leaks_hold_at(struct leaks_run *r, int fd, const char *path);
/*
 * suppress_program.c: LeakSanitizer lets a program bring suppressions of its own, by a function
 * that returns them.  take: of a file, under the lock; use: all that were found so far, for a
 * report.
 */
void leaks_take_known(struct leaks_run *r, const char *path, int fd);
void leaks_use_known(struct leaks_run *r);
/* run_resident.c: of the mappings of a process that waits or runs, under the lock; */
void leaks_see_resident(struct leaks_run *r, const struct snap *s, __u32 space, pid_t pid);
/* and of all, for a snapshot.  -ENOMEM. */
int leaks_set_resident(struct leaks_run *r, struct snap *s);
/* followed.c: MEMTAP_SPACE_NOT_FOLLOWED, of a snapshot.  -ENOMEM. */
int leaks_set_followed(struct leaks_run *r, struct snap *s);
bool leaks_is_static(int fd);

/* run_hold.c: for the thread that serves the session */
bool leaks_look(void *ctx);
void leaks_see_file(void *ctx, const char *path, int fd);
/* Why what cannot be reached need not be lost; NULL: it is. */
const char *leaks_why_not(const struct snap *s);
/* What the ends showed, and --unreachable, becomes part of the last snapshot. */
int leaks_set_kinds(struct leaks_run *r, struct snap *s);

/*
 * run_look.c: --unreachable: which blocks of those that run can still be reached; they are
 * stopped meanwhile.  @launched: the program that was started here, or 0.
 */
static inline bool leaks_looks(const struct opts *o)
{
	return o->reach || o->retained;
}

int leaks_look_check(const struct opts *o, const char *cmd);	/* exit status */
/* Can they be stopped, and read?  Exit status. */
int leaks_look_begin(struct leaks_run *r, pid_t launched);
void leaks_look_live(struct leaks_run *r, pid_t launched);
/* What was seen is not true any more. */
void leaks_look_forget(struct leaks_run *r);

/*
 * run_held.c: of these blocks of a process what they are, and what holds them, into .held of each:
 * r->helds.  @c as it was copied, while the process stood.  Why not: r->held_why.
 */
struct copy;

void leaks_find_held(struct leaks_run *r, pid_t pid, struct copy *c, struct snap_reach *found,
		     size_t nr);

/* run_trace.c: --trace */
struct leaks_trace;
/*
 * Prints the stack of a call below its line; before that, with @out NULL and no lock held,
 * reads what it needs to.  NULL: nobody wants it.
 */
typedef void (*leaks_stack_fn)(void *ctx, const struct memtap_one *one, FILE *out);

/*
 * @kernel: objects of the kernel, whose addresses are told by numbers that stand for them,
 * unless @addresses
 */
struct leaks_trace_of {
	int dev;
	pthread_mutex_t *reading;	/* of snapshots */
	FILE *out;
	pthread_mutex_t *printing;
	bool kernel, addresses;
	leaks_stack_fn stack;
	void *ctx;
};

struct leaks_trace *leaks_trace_start(const struct leaks_trace_of *of);
/* The errno of printing, 0 if all is well; a SIGCHLD to who started it tells of it. */
int leaks_trace_error(struct leaks_trace *t);
/* Prints the rest; how many calls were lost. */
__u64 leaks_trace_end(struct leaks_trace *t);

#endif
