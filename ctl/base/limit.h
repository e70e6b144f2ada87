/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LIMIT_H
#define _LIMIT_H

#include <stdbool.h>
#include <linux/types.h>

/* Not more than a quarter of this machine's memory for this process, or 512 MiB. */
void limit_memory(void);
/*
 * Seven eighths of that, while a library reads what somebody else made.  What it got
 * and lost on its way is gone; the rest is for what has to be said afterwards.
 */
/*
 * More address space (or less) than that is reserved from now on; how much memory is in it is
 * bounded by who does that.
 */
void limit_reserve(__s64 bytes);
void limit_narrow(bool narrow);
/*
 * As many open files as there may be: each with probes is kept open, and a program can
 * have more of them than the 1024 that are usual.
 */
void limit_files(void);
/*
 * While memtap, or the kernel for it, takes much memory: where that is too much for the
 * machine, memtap is killed for it, and no other process.  Calls may be nested.
 */
void limit_oom_first(bool first);
/* As it was: for a program that is run.  Async-signal-safe. */
void limit_restore(void);

#endif
