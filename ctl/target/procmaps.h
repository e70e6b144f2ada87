/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _PROCMAPS_H
#define _PROCMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/* Parse one line of /proc/PID/maps; maps.h has the files alone. */
struct procmap {
	__u64 start, end, offset, inode;
	__u32 dev_major, dev_minor;
	bool readable, writable, executable, shared;
	const char *path;		/* "" where there is none; "[heap]" */
};

/*
 * Calls @fn for each mapping of @pid, by address, until it returns other than 0,
 * and returns that; or a negative errno.
 */
int procmaps_read(pid_t pid, int (*fn)(const struct procmap *m, void *ctx), void *ctx);

/* The number behind @key in /proc/PID/status, or 0. */
__u64 procmaps_status(pid_t pid, const char *key);

/* The same for a text, which is changed. */
int procmaps_parse(char *text, int (*fn)(const struct procmap *m, void *ctx), void *ctx);

/*
 * The stack pointer in a text of /proc/PID/syscall, which is changed: "-1 SP PC", "NR
 * ARGS SP PC".  0 of a thread that runs just now.
 */
__u64 procmaps_stack_pointer(char *text);

/* Where brk() began, as a text of /proc/PID/stat has it, or that of @pid; 0: not known. */
__u64 procmaps_parse_brk(const char *text);
__u64 procmaps_brk(pid_t pid);

#endif
