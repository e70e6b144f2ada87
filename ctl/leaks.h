/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LEAKS_H
#define _LEAKS_H

#include <stdbool.h>
#include <stdio.h>
#include "snap.h"
#include "suppress.h"
#include "sym.h"

/*
 * What is allocated and not freed: blocks by their stacks, estimates where only
 * some are kept, what is suppressed, what is lost.  report.c makes rows of it.
 */

/* Live blocks are kept, and reports are about them. */
static inline bool leaks_kept(const struct snap *s)
{
	return s->header.flags & MEMTAP_CFG_LIVE;
}

/* Only some of the blocks are kept: sums are estimates. */
static inline bool leaks_sampled(const struct snap *s)
{
	return s->header.sample_bytes || s->header.sample_rate > 1;
}

/* How many blocks one kept block of that size stands for: 1 / p. */
double leaks_weight(const struct snap *s, __u64 size);

/*
 * The address space of the program that was launched (the last one of the first
 * process that was watched from its execve() on); without one, the first.  NULL:
 * none.
 */
const struct memtap_rec_space *leaks_main_space(const struct snap *s);

/* For an exit status. */
struct leaks_verdict {
	bool kinds;			/* which blocks are lost is known */
	__u64 blocks, bytes;		/* lost definitely or possibly, else all that
					 * the main space has; not what is suppressed,
					 * nor what a program mapped itself */
	__u64 suppressed, suppressed_bytes;
	__u64 mismatches;		/* frees that cannot be right */
};

/* @suppress may be NULL.  0, or -ENOMEM. */
int leaks_verdict(const struct snap *s, struct sym *sym, const struct suppress *suppress,
		  struct leaks_verdict *v);

/*
 * --trace: a call in the words of memleak -t; @event is the name of its event.
 * A call that takes back and hands out has two lines.
 */
void leaks_trace_line(FILE *out, const struct memtap_call *c, const char *event);

#endif
