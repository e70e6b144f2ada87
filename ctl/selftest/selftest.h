/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SELFTEST_H
#define _SELFTEST_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/cmd.h"
#include "base/json.h"
#include "base/text.h"
#include "snap/snap.h"
#include "sym/sym.h"

/*
 * memtap selftest: a known amount of work, and what memtap finds of it.
 *
 * selftest.c		the module, the order of all, the guard
 * check.c	a check: numbers that are equal or not, a line about it
 * find.c	what a snapshot has: by function, by who called the allocator
 * child.c	a process that works when it is told to
 * work.c	the work in user space
 * leaks.c	leaks of a program, and of one that runs
 * events.c	faults, brk, mmap; the hooks that this kernel lacks
 * ways.c	probes on functions, frame pointers; features
 * kernel.c	what the kernel allocates; kernel_work.c: for whom
 * watch.c	sessions of the watching commands, without their reports
 */

/* ---- checks ---- */

enum st_verdict { ST_OK, ST_FAILED, ST_NOT_HERE };

/* What was done, and what was found of it. */
struct st_number {
	const char *unit;
	__s64 wanted, got;
};

#define ST_NUMBERS	3

struct st_check {
	enum st_verdict verdict;
	const char *name;
	struct st_number numbers[ST_NUMBERS];	/* unit NULL: no more */
	char text[400];				/* what else there is to say, or "" */
};

struct st_out {
	FILE *f;
	bool as_json;
	struct json json;
	unsigned int nr[3];			/* by verdict */
};

void st_begin(struct st_out *out, FILE *f, bool as_json, const char *version);
void st_put(struct st_out *out, const struct st_check *c);
/* The summary; the exit status. */
int st_end(struct st_out *out);

/* ST_OK where all numbers are as wanted. */
enum st_verdict st_compare(const struct st_check *c);
/* Without numbers: what holds, what failed, what this kernel has not. */
void st_say(struct st_out *out, enum st_verdict verdict, const char *name,
	    const char *text, ...) __attribute__((format(printf, 4, 5)));

/* ---- snapshots ---- */

/* seen = counted + filtered + lost, for each event?  A check, and the losses. */
void st_account(const struct snap *s, struct st_check *c);

struct st_sum {
	__u64 count;
	__s64 value;
};

/*
 * What was counted of an event, where @function is on the user stack (NULL: anywhere),
 * called by @caller, through others or not (NULL: by any).
 */
struct st_sum st_sum_user(const struct snap *s, struct sym *sym, const char *event,
			  const char *function, const char *caller);

/* Whose stacks count: functions that call the allocator, by how their names begin. */
#define ST_CALLERS	6

/*
 * Who called the allocator, of a kernel stack's names (innermost first, NULL: not
 * known)?  True for one of @callers; not where something in between has called
 * an allocator for purposes of its own.
 */
bool st_called_by(const char *const *names, size_t nr, const char *const *callers);
__u64 st_sum_kernel(const struct snap *s, struct sym *sym, const char *event,
		    const char *const *callers);

/* ---- a child ---- */

struct st_child {
	pid_t pid;		/* 0: none */
	int fd;
};

/* Forked; does @work(step) when told to, and dies with us.  0 or -errno. */
int st_child_start(struct st_child *c, int (*work)(int step));
/* What @work returned, which is -errno when it failed; -ETIMEDOUT, -EPIPE. */
int st_child_step(struct st_child *c, int step);
void st_child_end(struct st_child *c);
/* Of the guard: no child may keep it open. */
extern int st_guard;

/* ---- work ---- */

/* What st_work_leak() leaves behind, function by function. */
struct st_leak {
	const char *function;
	enum leak_kind kind;
	const char *name;	/* of the check */
	__s64 blocks, bytes;
};

extern const struct st_leak st_leaks[];
extern const size_t st_nr_leaks;

/* `memtap selftest work`: leak, and exit.  An exit status. */
int st_work_leak(void);

enum st_step { ST_PREPARE, ST_KEEP, ST_GIVE_BACK };

/* Live blocks of a process that goes on. */
#define ST_HELD_BLOCKS	400
#define ST_HELD_BYTES	(ST_HELD_BLOCKS * 112)
int st_work_hold(int step);

/* Pages that are touched: as many minor faults, or more where the kernel moves one meanwhile. */
#define ST_PAGES	1000
#define ST_BRK_CALLS	3
#define ST_BRK_BYTES	(ST_BRK_CALLS * (96L << 10))
#define ST_MMAP_CALLS	20
#define ST_MMAP_BYTES	(ST_MMAP_CALLS * (128L << 10))
/* Of ST_KEEP: the minor faults that the kernel counts of selftest_touch(), or ST_PAGES. */
int st_work_grow(int step);

/* ---- parts; each says all of its checks ---- */

struct st_run {
	struct st_out out;
	const struct opts *o;
	struct sym *sym;
	char brk_function[MEMTAP_NAME_LEN];	/* that brk's hook took, or "" */
};

void st_leaks_launched(struct st_run *r);
void st_leaks_attached(struct st_run *r);
void st_events(struct st_run *r);
void st_ways(struct st_run *r);		/* after st_events() */
void st_kernel(struct st_run *r);
/* From MEMTAP_INFO, and from what the kernel says of its probes. */
void st_features(struct st_run *r, const struct memtap_info *info);

int cmd_selftest(const struct cmd *cmd, struct opts *o);

#endif
