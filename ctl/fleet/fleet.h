/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _FLEET_H
#define _FLEET_H

#include <stdbool.h>
#include <stdio.h>

#include "snap/snap.h"
#include "sym/sym.h"

/*
 * Many recordings as one.  Addresses of two machines have nothing in common (KASLR, ASLR, other
 * builds): what is kept of a recording is names.  A recording is read, added and freed before the
 * next one is read, so that memory is needed for distinct rows alone; and where these are too many,
 * those of least weight lose their stacks, and are counted.
 */
struct fleet;

#define FLEET_WHY	512
#define FLEET_MAX_MEM	(512ULL << 20)
#define FLEET_LEAST_MEM	(1ULL << 20)

struct fleet_opts {
	bool names;		/* to be compared: of a frame its name alone counts, and of live
				 * memory how much there is.  Else to be written */
	__u64 max_mem;		/* bytes that rows and names may take */
	/* does this page hold what is counted by itself, as report_is_owned()? */
	bool (*is_owned)(const struct snap *s, struct sym *sym, const struct memtap_block *b);
};

/* NULL: no memory. */
struct fleet *fleet_new(const struct fleet_opts *o);
void fleet_free(struct fleet *f);

/*
 * One more recording, which may be one that fleet_write() made; @path for messages, and the name of
 * the host if the recording has none.  @side 0 or 1: of which group.  The caller frees @s and @sym
 * afterwards.  0; -ENOMEM; -EEXIST: it was added before, and is not counted again; -EINVAL with a
 * sentence: it cannot be merged with the others; -ENOSPC with a sentence: max_mem is too small.
 */
int fleet_add(struct fleet *f, const struct snap *s, struct sym *sym, const char *path,
	      unsigned int side, char why[FLEET_WHY]);

/* A sentence for the foot of what is written; each one is there once.  0 or -ENOMEM. */
int fleet_add_note(struct fleet *f, const char *sentence);
/* Write all as one .memtap file, with these notes ("key=value", NULL behind the last). */
int fleet_write(struct fleet *f, const char *const *notes, FILE *out);

/* ---- what there is ---- */

struct fleet_host {
	const char *name;
	unsigned int side;
	__u32 files, running;
	__u64 ns, least_ns, most_ns, first_ns, last_ns;
	char release[64];
};

size_t fleet_nr_hosts(const struct fleet *f);
const struct fleet_host *fleet_host(const struct fleet *f, size_t i);
/* Rows that lost their stacks for want of memory. */
size_t fleet_folded(const struct fleet *f);
/* Bytes that rows and names took at most. */
__u64 fleet_bytes(const struct fleet *f);
/* What recordings say of themselves, and what could not be named; how many of them say so. */
size_t fleet_nr_notes(const struct fleet *f);
const char *fleet_note_text(const struct fleet *f, size_t i, __u64 *files);
/* What rows are is not divided by time: there is so much of it when the recording ends. */
bool fleet_is_level(const struct fleet *f);
/* Events with all accounts: of all recordings together. */
size_t fleet_nr_events(const struct fleet *f);
const struct snap_event *fleet_event(const struct fleet *f, size_t i);
/* How many frames a stack has, and one of them, innermost first; valid until the fleet changes. */
size_t fleet_nr_frames(const struct fleet *f, __u32 stack);
struct sym_frame fleet_frame(const struct fleet *f, __u32 stack, size_t i);
/* What stands in for a stack that is not there, or NULL; and why one is truncated. */
const char *fleet_no_stack(__u32 stack);
__u32 fleet_stack_flags(const struct fleet *f, __u32 stack);

/* ---- what differs ---- */

/* What hosts of a group have of one thing: per second, or a level. */
struct fleet_spread {
	__u32 hosts, have;	/* hosts, and those that have any of it */
	double middle;		/* the median */
	double spread;		/* robust_spread() */
	double least, most;
};

/* One stack of one program; without stacks, program and file: all of the event. */
struct fleet_row {
	__u32 event;		/* number */
	__u32 kstack, ustack;
	const char *program;	/* NULL: all */
	const char *file;	/* that the event is about, or NULL */
	struct fleet_spread of[2];
};

/* A host that is not as the others of its group, in one row. */
struct fleet_odd {
	__u32 host;
	struct fleet_row row;	/* .of[0] are the others */
	double value;
};

struct fleet_result {
	struct fleet_row *totals;	/* a row for each event */
	struct fleet_row *rows;	/* that differ, the largest difference last */
	size_t nr_totals, nr_rows, nr_same;
	struct fleet_odd *odds;	/* by host, the largest difference of each first */
	size_t nr_odds;
	double *values, *others;	/* [event * hosts + host]: all of it, and the median of
					 * the other hosts of its group */
	bool *idle;			/* by host: left out, its recordings took no time */
	size_t nr_idle;
	bool judged[2];			/* there are enough hosts to call one odd */
};

/* Has a host any of this event?  Of page faults, recordings of resident pages have no rows. */
static inline bool fleet_has(const struct fleet_result *r, size_t event)
{
	return r->totals[event].of[0].have || r->totals[event].of[1].have;
}

#define FLEET_ODD_HOSTS	4	/* so many hosts at least, to call one of them odd */

/*
 * Compare the groups (@two), or only find odd hosts in the first.  @program: rows of different
 * programs are different rows.  0 or -ENOMEM; fleet_result_free() in any case.
 */
int fleet_compare(const struct fleet *f, bool two, bool program, struct fleet_result *r);
void fleet_result_free(struct fleet_result *r);

#endif
