/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _MAPS_H
#define _MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/* The files that a process maps executably; each once. */
struct maps_file {
	__u64 start, end;		/* the first such mapping */
	__u64 inode;
	__u32 dev_major, dev_minor;
	bool deleted;
	char path[];			/* as the process sees it */
};

struct maps {
	struct maps_file **files;
	size_t nr;
};

/*
 * A thread of @pid that has its memory: not the first one where that has ended before the others
 * (pthread_exit() in main()), since /proc/@pid is without it then.  @pid: there is none.
 */
pid_t maps_thread(pid_t pid);

/* The text of /proc/PID/maps; lines that are none are skipped. */
int maps_parse(const char *text, size_t len, struct maps *m);
int maps_read(pid_t pid, struct maps *m);
void maps_free(struct maps *m);

/*
 * Open a file of @pid: by its path in the process's root, if that is the file which is mapped,
 * else by the mapping.
 */
int maps_open(pid_t pid, const struct maps_file *f);

/*
 * Does the file @path answer to @name?  "c", "libc", "libc.so" and "libc.so.6"
 * are /lib/libc.so.6 and /lib/libc-2.31.so; "prog" is /bin/prog.
 */
bool maps_name_matches(const char *path, const char *name);

/*
 * The same for a program that is installed under several versions: "python3" is also
 * /usr/bin/python3.11, "perl" perl5.36.0; no library is meant.
 */
bool maps_version_matches(const char *path, const char *name);

/*
 * A library that the dynamic linker knows: path in @path.  -ENOENT: none of
 * this name for this machine.
 */
int maps_find_library(const char *name, char *path, size_t len);

/* Entries of ld.so.cache: calls fn for each path until it returns true. */
bool maps_ldcache(const void *bytes, size_t len,
		  bool (*fn)(const char *path, void *ctx), void *ctx);

/* A whole file, terminated with 0; malloc'ed. */
int maps_slurp(int dirfd, const char *path, char **text, size_t *len);

#endif
