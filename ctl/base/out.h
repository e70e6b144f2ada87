/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _OUT_H
#define _OUT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * An output file.  It replaces the old file when all is written, or not at all.  A pipe or device
 * (/dev/null) is written directly.  The new file has the permissions of the replaced one, without
 * setuid and similar bits; if another user owns the old file, also without write permission for
 * others.
 */
struct out {
	FILE *f;
	FILE *under;		/* what .f writes to; or NULL */
	char path[4096];
	char temp[4112];	/* "": writing to path itself */
	bool sync;		/* it shall survive a crash of the machine */
};

/* @path NULL: standard output. */
int out_open(struct out *o, const char *path);

/* For its owner alone, and on the disk when out_commit() returns. */
int out_open_own(struct out *o, const char *path);

/* As it comes, for what others watch growing. */
int out_open_plain(struct out *o, const char *path);

/* What is printed is JSON: make CSV of it.  0 or -errno. */
int out_csv(struct out *o, const char *separator);

/* All written?  The file stands afterwards, or the errno says why not. */
int out_commit(struct out *o);
void out_abort(struct out *o);

/* Could it be written?  Leaves nothing behind. */
int out_check(const char *path);

#endif
