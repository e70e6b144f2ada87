/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _VERIFY_H
#define _VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/* After a session: compare the code of its targets with the files. */
struct verify_file {
	int fd;				/* open for reading */
	dev_t dev;
	ino_t ino;
	dev_t map_dev;			/* as /proc/PID/maps has it; 0: not known */
	char *path;			/* as its process sees it */
	__u64 *offsets;			/* where probes stood */
	size_t nr, room;
	size_t functions;		/* of them that are the caller's */
	size_t refused;			/* that the kernel did not take */
};

struct verify_result {
	size_t processes;		/* that have such a place */
	size_t changed;			/* where something is not as in the file */
	pid_t pid;			/* the first of these, and where */
	__u64 offset;
	const char *path;
};

enum verify_who {
	VERIFY_NOT,
	VERIFY_SILENTLY,	/* tell only what is wrong */
	VERIFY,
};

/* Look at those that have a place of @files mapped to be executed. */
void verify_text(const struct verify_file *files, size_t nr,
		 enum verify_who (*who)(pid_t pid, void *ctx), void *ctx,
		 struct verify_result *result);

#endif
