/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TOP_STATE_H
#define _TOP_STATE_H

#include "machine/machine.h"
#include "top/canvas.h"
#include "triage/triage.h"

/*
 * The state of `memtap top` and the effect of keys.  This code uses no terminal and no session, so
 * that tests can press keys and check the state.  Requests to the caller are in .ask.
 */

/* Two moments of the machine, and what changed between them. */
struct top_moment {
	struct machine before, now;
	struct triage triage;
	bool has;			/* both are there */
};

enum top_sort { TOP_BY_GROWTH, TOP_BY_RSS, TOP_BY_HEAP, TOP_BY_FAULTS, TOP_BY_PID, NR_TOP_SORTS };

/* A process; rates are a second. */
struct top_row {
	const struct machine_holder *now;
	__s64 rss;
	double grew, heap, faults, major;
	bool unknown;			/* it was not read before: there are no rates */
};

/* Keys that are no characters. */
enum top_key {
	TOP_NO_KEY = -1, TOP_KEY_ESCAPE = 27,
	TOP_KEY_UP = 0x1000, TOP_KEY_DOWN, TOP_KEY_PAGE_UP, TOP_KEY_PAGE_DOWN, TOP_KEY_HOME,
	TOP_KEY_END, TOP_KEY_LEFT, TOP_KEY_RIGHT, TOP_KEY_BACKSPACE,
};

/* What a process is watched for; the letters are the keys. */
enum top_what { TOP_FAULTS = 'f', TOP_GROWTH = 'g', TOP_LEAKS = 'l' };

/* What others are to do after a key. */
enum top_ask { ASK_NOTHING, ASK_QUIT, ASK_OPEN, ASK_CLOSE, ASK_WRITE,
	       ASK_NEXT, ASK_BACK, ASK_NEXT_EVENT, ASK_BACK_EVENT };

enum top_prompt { PROMPT_NONE, PROMPT_INTERVAL, PROMPT_FILTER, PROMPT_FILE };

struct top {
	struct top_moment moment;
	struct top_row *rows;
	size_t nr_rows;
	size_t unknown;			/* processes, also those that are in no row */
	size_t shown;			/* rows of the last screen; 0: there was none */
	size_t no_pss;			/* of the rows that were shown: PSS was not read */
	struct machine_pss pss;
	double interval;
	__u64 real_ns;			/* time of day to be shown; 0: none */
	bool past;			/* it is over: a moment of the history */

	/* the page of the machine */
	enum top_sort sort;
	bool reversed;
	size_t chosen, first;		/* rows: under the bar, and the first that is shown */
	__u32 chosen_pid;
	char filter[64];		/* a number, or part of a name; "": all */

	/* a process that is watched */
	bool watching;
	enum top_what what;
	__u32 pid;
	char name[16];
	char cost[256];			/* what it costs */
	char *lines;			/* of the stacks, each ends with '\n'; or NULL */
	size_t line, nr_lines;		/* the first that is shown; all */

	bool help, batch;		/* batch: no line of keys */
	enum top_prompt prompt;
	char input[128];
	char message[256];		/* below; until the next key */
	enum top_ask ask;
};

/* A moment more: @now belongs to @t afterwards.  -ENOMEM. */
int top_take(struct top *t, const struct machine_at *at, struct machine *now);
/* Text of the stacks that are shown; @t frees it. */
void top_take_lines(struct top *t, char *lines);
void top_key(struct top *t, int key, int rows);
void top_free(struct top *t);

/* rows.c: in the order that was asked for; -ENOMEM */
int top_rows(struct top *t);
/* PSS of those rows that are shown: of all processes it would take too long. */
void top_read_pss(struct top *t, const struct machine_at *at);
#define TOP_BATCH	25		/* rows without a screen */
/* Rows a second of the last interval; 0: it is the first. */
double top_seconds(const struct top *t);

/* page.c */
void top_draw(struct top *t, struct canvas *c);
/* How many rows of processes or lines of stacks a page has. */
int top_page(const struct top *t, int rows);
/* Were some not read, now or at the last look?  Then a line below them says so. */
bool top_missing(const struct top *t);

#endif
