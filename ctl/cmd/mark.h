/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _MARK_H
#define _MARK_H

#include "base/opt.h"
#include "report/report.h"

#define MARK_WHY	512

/* --between and --since-mark: exit status */
int mark_check(const struct opts *o, const char *cmd);
/*
 * From when until when blocks that are shown were born; false: @why that is not known.  Until a
 * mark is set nothing was born since it.  Else @why is what there is to know of it, or "".
 */
bool mark_window(const struct snap *s, const struct opts *o, struct report_opts *r,
		 char why[MARK_WHY]);
/*
 * FROM,UNTIL as times of a recording: seconds from its start, a time of day, or a percentage.
 * False: @why they are not.
 */
bool mark_times(const struct snap *s, const char *between, __u64 *from_ns, __u64 *until_ns,
		char why[MARK_WHY]);
/* What is born from now on is not kept; -errno */
int mark_drain(int dev);

#endif
