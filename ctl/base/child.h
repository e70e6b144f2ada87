/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CHILD_H
#define _CHILD_H

#include <sys/types.h>

/*
 * Called first in a child that only works for its parent: it dies with the thread that made
 * it (@parent: that one's process), of signals as by default, leaves no core, and has no
 * descriptor but @keep, so that a session ends where its tool does.
 */
void child_alone(int keep, pid_t parent);

#endif
