/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CHILD_H
#define _CHILD_H

#include <sys/types.h>

/*
 * Call this first in a child process that works only for its parent.  The child dies with the
 * thread that created it (@parent: that thread's process), has default signal actions, writes no
 * core, and keeps only the descriptor @keep, so that a session ends with its tool.
 */
void child_detach(int keep, pid_t parent);

#endif
