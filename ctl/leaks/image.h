/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _IMAGE_H
#define _IMAGE_H

#include <sys/types.h>

#include "target/maps.h"
#include "target/procmaps.h"

/*
 * Where the mappings, the constants and the files of a process come from: of the process, while it
 * runs, or of a file (core.h).  What it may change was copied before: see struct memory.
 */
struct image {
	/* As procmaps_read(). */
	int (*each_map)(const struct image *i, int (*fn)(const struct procmap *m, void *ctx),
			void *ctx);
	/* Bytes from @addr on that are there; 0: none. */
	size_t (*read)(const struct image *i, __u64 addr, void *buf, size_t len);
	/* The file of a mapping, or a negative errno; as maps_open(). */
	int (*open)(const struct image *i, const struct maps_file *f);
	/* Is it the program itself? */
	bool (*is_program)(const struct image *i, const struct maps_file *f);
	/* Why nothing can be read there, if that is known; or NULL.  May be NULL. */
	const char *(*why)(const struct image *i, __u64 addr);
	pid_t pid;			/* of a file: it is told, and nothing else */
};

/* image_process.c */
struct image image_of_process(pid_t pid);

#endif
