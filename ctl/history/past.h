/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _HISTORY_PAST_H
#define _HISTORY_PAST_H

#include "base/opt.h"
#include "history/history.h"

/* --at and --between: the part of the history that is asked for. */
struct past {
	struct history *h;
	struct history_cursor *c;
	size_t first, last;		/* samples; first < last */
	bool same_boot;			/* the machine has run since @last */
};

/* What CLOCK_REALTIME is, in ns. */
__u64 past_now(void);
/* The kernel's boot_id; "": not known. */
void past_boot(char boot[40]);

/* Is one of the options given? */
bool past_asked(const struct opts *o);
/* 0, or the exit status: a sentence was printed. */
int past_open(const char *cmd, const struct opts *o, struct past *p);
void past_close(struct past *p);

/* Where the tool looks for what still runs, for sample @i. */
struct machine_at past_at(const struct past *p, size_t i);

#endif
