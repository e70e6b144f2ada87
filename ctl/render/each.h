/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _EACH_H
#define _EACH_H

#include <stdbool.h>
#include <stdio.h>

#include "session/args.h"
#include "snap/snap.h"
#include "sym/sym.h"

/* Single events as lines of text. */
struct each_event {
	char name[MEMTAP_NAME_LEN + 16];
	__u32 unit;			/* of a value of its own; MEMTAP_UNIT_NONE */
	const struct args *args;	/* or NULL */
};

/* Lines of `memtap trace`, or the tables of those commands. */
enum each_form { EACH_PLAIN, EACH_MMAP, EACH_SHM };

struct each_opts {
	enum each_form form;
	bool all;			/* MMAP: not mmap() alone */
	__u64 start_ns;			/* times are since then */
	__u64 real_ns;			/* the time of day at start_ns; 0: seconds since then */
	bool unix_time;			/* in seconds */
	const struct args_namer *namer;	/* of addresses among arguments, or NULL */
};

void each_header(const struct each_opts *o, FILE *out);
void each_line(const struct each_opts *o, const struct each_event *e,
	       const struct memtap_one *one, FILE *out);
/* What had begun and was not over at the end; @task: whose, or NULL. */
void each_pending(const struct each_opts *o, const struct each_event *e,
		  const struct memtap_rec_pending *p, const struct memtap_rec_task *task,
		  FILE *out);
/* Its stacks, the kernel's first, innermost frames first; with @addresses before their names. */
void each_stacks(const struct snap *s, struct sym *sym, const struct memtap_one *one,
		 bool addresses, FILE *out);

#endif
