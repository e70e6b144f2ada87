/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _REPORT_SELECT_H
#define _REPORT_SELECT_H

#include "base/opt.h"
#include "snap/snap.h"
#include "sym/sym.h"

#define SELECT_WHY	512

/* Which rows of a recording are wanted: all conditions hold, of a list one of its items. */
struct select {
	const struct opts *o;		/* .pids, .tids, .comms, .cgroups, .dsos, .symbols,
					 * .events */
	__u64 from_ns, until_ns;	/* of counters: only parts of this time; 0, 0: all */
};

/* Is there a condition? */
bool report_selects(const struct select *sel);

/*
 * Leave out of @s what does not meet the conditions: counters, parts of the time, live blocks.
 * Whatever is made of @s afterwards agrees.  Events keep their accounts, which are of the whole
 * recording; .left_count and .left_sum are what was left out.  0, -ENOMEM, or -EINVAL with a
 * sentence: what the recording does not hold, or that nothing meets a condition.
 */
int report_select(struct snap *s, struct sym *sym, const struct select *sel,
		  char why[SELECT_WHY]);

/* What it left out, as a line; false: @i is behind the last one. */
bool report_left_out(const struct snap *s, size_t i, char line[SELECT_WHY]);

#endif
