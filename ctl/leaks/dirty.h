/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _DIRTY_H
#define _DIRTY_H

#include <sys/types.h>

/*
 * copy_dirty.c: find pages of a process that were written since a given moment, by soft-dirty bits
 * (CONFIG_MEM_SOFT_DIRTY, Linux 3.11).  Writing 4 to /proc/PID/clear_refs clears them, and bit 55
 * of /proc/PID/pagemap shows them.
 */
#define DIRTY_BIT	(1ULL << 55)

/* Why they do not say all of this process, as the end of a sentence; NULL: they do. */
const char *dirty_why_not(pid_t pid);
/* A descriptor for dirty_clear(); nobody else of us has one then.  -EBUSY: somebody has. */
int dirty_open(pid_t pid);
/* This is the moment. */
int dirty_clear(int fd);

#endif
