/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _OPENREG_H
#define _OPENREG_H

/*
 * Open a regular file for reading at a path that another user may control.  Anything else is not
 * opened at all, because opening a device has effects: a tape rewinds, a watchdog starts.  Returns
 * a descriptor or -errno; -ENOEXEC: not a regular file.
 */
int open_regular(const char *path);

/* The same from the directory @dir; @flags: 0, or O_NOFOLLOW. */
int open_regular_at(int dir, const char *path, int flags);

#endif
