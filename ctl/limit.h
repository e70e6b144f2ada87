/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LIMIT_H
#define _LIMIT_H

/* Not more than a quarter of this machine's memory for this process, or 512 MiB. */
void limit_memory(void);
/* As it was: for a program that is run.  Async-signal-safe. */
void limit_restore(void);

#endif
