/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _REPORT_H
#define _REPORT_H

#include <stdbool.h>
#include <stdio.h>
#include "base/opt.h"
#include "snap/snap.h"
#include "sym/sym.h"

enum report_format { FORMAT_TABLE, FORMAT_FOLDED, FORMAT_FLAME, FORMAT_JSON };

/* What a report is about; a command fills this in and asks for it. */
struct report_opts {
	enum report_format format;
	enum report_by by;
	bool by_given;		/* else folded stacks begin with a name only */
	enum report_sort sort;
	unsigned int top;	/* rows shown; 0: all */
	bool calls;		/* folded, flame: calls, even where events have a value */
	bool no_user, no_kernel;	/* leave these frames out */
	bool addresses;		/* show the address of each frame, and of the event */
	bool timestamp;		/* print the time of day above */
	bool progress;		/* long work shows progress on stderr */
	const char *title;	/* of the flame graph; also the table's first line */
	const char *command;	/* the command line that asked */
	const char *const *notes;	/* further lines for the foot, or NULL */

	/*
	 * Of sessions that keep live blocks (MEMTAP_CFG_LIVE): rows are stacks
	 * with what they allocated and is not freed.
	 */
	__u64 older_ms;		/* only blocks of at least this age; 0: all */
	bool blocks;		/* folded, flame: blocks instead of bytes */
	bool show_allocs;	/* table: each block, too */
	bool summary;		/* table: at the end, HEAP and LEAK SUMMARY */
	__u32 leak_kinds;	/* mask of 1 << LEAK_*, where these are known: which
				 * are rows; 0: all */
	const char *no_kinds;	/* why they are not known: a sentence, or NULL */
	const struct suppress *suppress;	/* or NULL */
};

/*
 * Write a report of @snap to @out.  The foot (table, JSON and flame graph) has
 * all events with seen, counted, filtered and every loss by reason, also when
 * all are zero.  Returns 0 or a negative errno (of writing).
 */
int report_write(const struct snap *snap, struct sym *sym,
		 const struct report_opts *o, FILE *out);

const char *report_lost_name(unsigned int reason);	/* "recursion", ... */
const char *report_part_name(unsigned int reason);

#endif
