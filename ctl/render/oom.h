/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_OOM_H
#define _RENDER_OOM_H

#include <stdbool.h>
#include <stdio.h>

#include "machine/machine.h"
#include "triage/oom.h"

struct snap;
struct sym;

/* @sym: for the stacks; NULL: they stay addresses.  @rows: largest processes shown. */
struct oom_opts {
	FILE *out;
	struct sym *sym;
	__u32 rows;
	bool line;			/* JSON: all on one line */
	const struct snap *file;	/* that it is in, with names; NULL: this machine's */
	__u32 number;			/* of the record in @file */
	const struct machine *now;	/* the machine when it is printed, a moment later; NULL:
					 * that is too late */
};

/* A record that is clean (oom_clean()), for people, or as a JSON document. */
void render_oom(const struct memtap_oom_record *r, const struct oom_opts *o);
void render_oom_json(const struct memtap_oom_record *r, const struct oom_opts *o);

/* One of a file, clean: @to has room for it. */
void render_oom_of(const struct snap *file, __u32 number, struct memtap_oom_record *to);

#endif
