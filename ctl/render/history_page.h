/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _HISTORY_PAGE_H
#define _HISTORY_PAGE_H

#include <stdio.h>

#include "machine/machine.h"

/*
 * A page of a history that needs nothing else: memory by kind over time, events, and the triage
 * of each moment.
 */
#define HISTORY_KINDS	8

/* Where all memory is at one moment, in bytes; the last kind is what is free. */
struct history_moment {
	__u64 real_ns;
	__u64 kinds[HISTORY_KINDS], available, swap;
	double pressure;		/* percent of the time that some task waited; 0: none, or
					 * it is not known */
	unsigned int events;		/* TRIAGE_KILL, TRIAGE_STALL */
	const char *gap;		/* what lies before it, or NULL */
	char *triage;			/* text, or NULL: it is not known */
};

/* @before: the sample before of the same boot, or NULL. */
void history_moment(struct history_moment *to, const struct machine *m,
		    const struct machine *before);

struct history_page {
	const char *title, *subtitle;
	__u64 total;			/* bytes, the most of all moments */
	const struct history_moment *moments;
	size_t nr;			/* 1 at least */
};

void history_page(const struct history_page *p, FILE *out);

#endif
