/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TOP_VIEW_H
#define _TOP_VIEW_H

#include "top/state.h"

/*
 * The session of one process: open, run and close, by the same code as the recording
 * commands.  Errors are printed to stderr, and the exit status is returned.
 */
struct top_view;

/* NULL: it was told why not, and nothing is attached. */
struct top_view *view_open(enum top_what what, __u32 pid);
/* What it has by now, as lines; NULL: told why not, or the process has ended (*@ended). */
char *view_lines(struct top_view *v, bool *ended);
/* The last of these as a file. */
int view_write(struct top_view *v, const char *name, const char *path);
/* No probe is left afterwards. */
void view_close(struct top_view *v);

#endif
