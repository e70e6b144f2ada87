/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _OPENREG_H
#define _OPENREG_H

/*
 * Open for reading what somebody else may have put there: a regular file only, of
 * anything else not even that.  To open a device is to do something to it: a tape
 * rewinds, a watchdog starts.  A descriptor, or -errno; -ENOEXEC: no regular file.
 */
int open_regular(const char *path);

/* The same from the directory @dir; @flags: 0, or O_NOFOLLOW. */
int open_regular_at(int dir, const char *path, int flags);

#endif
