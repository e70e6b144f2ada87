/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_SYMBOLIZE_H
#define _CMD_SYMBOLIZE_H

#include "base/opt.h"
#include "snap/snap.h"

/*
 * --symbolize: names, source lines and inlined calls of a recording's user addresses, from files
 * and debug files of this machine that have the recorded build IDs.  How many were named is said
 * on standard error.  Each returns an exit status; why is printed.
 */

/* Is the command line right?  0, or EXIT_USAGE. */
int symbolize_check(const char *cmd, const struct opts *o);
/* Is the result a recording, -o FILE.memtap, and no report? */
bool symbolize_writes(const struct opts *o);
/* Write it to @o->out. */
int symbolize_write(const struct snap *s, const struct opts *o);
/* *@s becomes the recording with names. */
int symbolize_replace(struct snap **s, const struct opts *o);

#endif
