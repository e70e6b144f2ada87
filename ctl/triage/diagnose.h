/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _DIAGNOSE_H
#define _DIAGNOSE_H

#include "triage/triage.h"

/*
 * `memtap diagnose`: which findings of triage are asked about, and what follows from the answers.
 * Nothing is read, run or printed here but where a function says so.
 */

/* --- which questions -------------------------------------------------------------- */

#define DIAGNOSE_ASKS	4		/* three, and one that follows from an answer */

/* What is diagnosed: the machine, or a part of it. */
struct diagnose_scope {
	__u32 pid;			/* 0: any */
	const char *cgroup;		/* path below the hierarchy's root; NULL: any */
};

/* Leaves in @m the processes and cgroups of @s alone.  @at: where their cgroups are read. */
void diagnose_narrow(const struct machine_at *at, const struct diagnose_scope *s,
		     struct machine *m);

/*
 * The findings that matter, at most @room of them, into @out: how many.  @census: of the same two
 * moments, for kernel memory; or NULL.  Those without a question (it only holds memory) are among
 * them; FOUND_NOTHING alone, if there is nothing else.
 */
size_t diagnose_pick(const struct triage *t, const struct triage *census,
		     const struct diagnose_scope *s, struct triage_finding *out, size_t room);

/*
 * The words of `memtap record` that record what the finding's command shows, and @len bytes at
 * most of them into @words.  false: this command has no recording.
 */
bool triage_recording(const struct triage_finding *f, char *words, size_t len);

/*
 * Does a recording take too much of a CPU?  @cost: seconds of a CPU that it took in @seconds; it is
 * to go on for @planned in all.  More than 5 % after three seconds; and at any time more than 5 %
 * of what is planned, or a quarter of a second if that is more: with many processors three seconds
 * would be too long.
 */
bool diagnose_dear(double cost, double seconds, double planned);

/* --- how it develops ---------------------------------------------------------------- */

/* Bytes that a finding is about, at a moment; negative: none, or not known. */
__s64 diagnose_bytes(const struct triage_finding *f, const struct machine *m);

#define PACE_MOST	64

enum pace_kind {
	PACE_NONE,			/* it is about no bytes, or they are not known */
	PACE_SHORT,			/* too few samples to say how it grows */
	PACE_FLAT,
	PACE_ENDED,			/* it grew in the first half only */
	PACE_STEADY,			/* both halves grew alike */
	PACE_UNEVEN,
	PACE_WAVES,			/* it falls, too */
};

struct pace_sample {
	__u64 ns;
	__s64 bytes;
};

struct pace {
	struct pace_sample at[PACE_MOST];
	size_t nr;
	/* diagnose_pace(): */
	enum pace_kind kind;
	double seconds;
	__s64 grew, least, most;
};

/* @bytes negative: left out.  With PACE_MOST samples every other one is dropped. */
void diagnose_sample(struct pace *p, __u64 ns, __s64 bytes);
void diagnose_pace(struct pace *p);
/* Adds to what is said of @f what more than two moments say: that it falls, too, or has ended. */
void diagnose_add_pace(struct triage_finding *f, const struct pace *p);
/* At that time, between two samples; the first or the last one before and after them. */
__s64 diagnose_bytes_at(const struct pace *p, __u64 ns);

/* --- what an answer says -------------------------------------------------------------- */

#define ANSWER_CALLERS	3

struct answer_frame {
	char name[200], object[96], file[96];
	__u32 line;
};

/* A row of a report. */
struct answer_row {
	char event[64], comm[32], path[256], verdict[40], cache[64];
	__u32 pid;
	__u64 count;
	__s64 sum;
	/* innermost first, without functions that only hand out memory */
	struct answer_frame user[ANSWER_CALLERS], kernel[ANSWER_CALLERS];
	size_t nr_user, nr_kernel;
	struct answer_frame first[2];	/* the innermost of each, whatever it is */
};

struct answer {
	bool has;
	char unit[8];			/* "bytes", "ns", "pages", "": of .total, and of .largest */
	__u64 total, part;		/* all rows; the largest row */
	__u64 events, lost;		/* counted; lost, all reasons */
	__u64 from_ns, until_ns;	/* CLOCK_MONOTONIC: recorded */
	struct answer_row largest;
};

/* Read `memtap report --json`.  -EINVAL: it is no such document. */
int answer_read(const char *text, size_t len, struct answer *a);

/* --- the conclusion --------------------------------------------------------------------- */

/* What became of a question. */
enum ask_end {
	ASK_NONE,			/* there was nothing to ask */
	ASK_DONE,
	ASK_DEAR,			/* detached: it took more of a CPU than allowed */
	ASK_STOPPED,			/* ^C */
	ASK_FAILED,			/* .error */
	ASK_NO_MODULE,			/* .error */
	ASK_NO_TIME,
};

struct ask {
	struct triage_finding found;
	char record[1500];		/* the command line that recorded it; "" */
	char file[32];			/* the recording's name; "": none was kept */
	enum ask_end end;
	char error[512];
	double seconds;			/* recorded */
	double cpu;			/* percent of one CPU meanwhile; negative: not known */
	bool follows;			/* from the answer to the question before it */
	struct pace pace;
	struct answer answer;
	__s64 grew;			/* bytes, while it was attached; 0: not known */
	__s64 heap_grew, anon_grew;	/* of a process: [heap], other anonymous mappings */
	bool has_kinds;
	bool gone;			/* the process that it is about has ended */
};

enum sure { SURE_LOW, SURE_MEDIUM, SURE_HIGH };

#define CONCLUSION_WHY	5

struct conclusion {
	const struct ask *ask;
	enum sure sure;
	bool growth;			/* it is about something that grew */
	bool calm;			/* that does not go on growing */
	char says[2600];
	char why[CONCLUSION_WHY][700];	/* evidence, and what is not known */
	size_t nr_why;
	char next[1400];		/* to be run next; "": nothing */
	__u64 full_ns;			/* until .full_what is reached; 0: no forecast */
	double per_second;		/* 0: no steady growth */
	int percent;			/* of the total, by the largest row; negative: none */
	const struct ask *shown;	/* whose row that is */
};

/*
 * What follows from a question and its answer.  @t: of the whole time.  @at: where limits are
 * read, for a forecast.
 */
void diagnose_judge(const struct ask *ask, const struct ask *follow, const struct triage *t,
		    const struct machine_at *at, const struct diagnose_scope *scope,
		    struct conclusion *c);

/* What turned out not to go on growing comes last; else the order remains. */
void diagnose_order(struct conclusion *c, size_t nr);

/* Did the process's blocks explain less than half of its growth?  Then its faults are asked. */
bool diagnose_follow(const struct ask *ask, const struct machine_at *at,
		     struct triage_finding *f);

#endif
