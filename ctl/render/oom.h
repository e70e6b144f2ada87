/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_OOM_H
#define _RENDER_OOM_H

#include <stdbool.h>
#include <stdio.h>

#include "machine/machine.h"
#include "triage/oom.h"

struct snap;
struct sym;

/* @sym: symbolizes the stacks; NULL: print addresses.  @rows: largest processes shown. */
struct oom_opts {
	FILE *out;
	struct sym *sym;
	__u32 rows;
	bool line;			/* JSON: all on one line */
	const struct snap *file;	/* the recording it is in, with names; NULL: live */
	__u32 number;			/* of the record in @file */
	const char *const *recordings;	/* files of the seconds before it, ended by NULL; or NULL */
	const struct machine *now;	/* the machine's state shortly after the kill; NULL: too
					 * late to read it */
};

/* Prints a record that went through oom_clean(), as text or as a JSON document. */
void render_oom(const struct memtap_oom_record *r, const struct oom_opts *o);
void render_oom_json(const struct memtap_oom_record *r, const struct oom_opts *o);

/*
 * Completes the trigger's user stack in @r by unwinding @copied, a copy of it that this machine
 * made, unless the module had all of it; r->urest says why not.
 */
void oom_unwind(struct memtap_oom_record *r, struct memtap_oom_stack *copied);

/* Copies record @number of a file to @to, through oom_clean(). */
void render_oom_of(const struct snap *file, __u32 number, struct memtap_oom_record *to);

#endif
