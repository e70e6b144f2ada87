/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _PROCS_H
#define _PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "uapi/memtap.h"

/* Does a filter match this process, by the kernel's rules and at this moment? */
bool procs_passes(pid_t pid, const struct memtap_filter_item *items, size_t nr);

/* Inodes of its control groups: of v1's memory hierarchy, and of v2; 0: it has none. */
struct procs_cgroups {
	__u64 v1, v2;
};

struct procs_cgroups procs_cgroups(pid_t pid);

/* Calls @fn for each process there is until it returns other than 0; returns that. */
int procs_each(int (*fn)(pid_t pid, void *ctx), void *ctx);

/* Calls @fn for each name of its threads until it returns other than 0. */
int procs_threads(pid_t pid, int (*fn)(pid_t tid, void *ctx), void *ctx);

/* Calls @fn for each number of its open files until it returns other than 0. */
int procs_fds(pid_t pid, int (*fn)(pid_t fd, void *ctx), void *ctx);

/* Was it killed by SIGKILL, and has not ended yet? */
bool procs_killed(pid_t pid);

/* Is it there, a program's and no thread of the kernel?  A thread has its process's answer. */
bool procs_has_memory(pid_t pid);

/* The number behind "Name:" in /proc/PID/status of a thread; -1: none. */
long procs_status(pid_t pid, pid_t tid, const char *name);

#endif
