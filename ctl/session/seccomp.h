/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SECCOMP_H
#define _SECCOMP_H

#include <stdbool.h>

#include "uapi/memtap.h"

/*
 * Check seccomp filters.  If return probes make a process enter the kernel by a system call
 * (MEMTAP_FEATURE_URET_SYSCALL), a seccomp filter may kill the process for it; only some such
 * kernels exempt that call.  Processes under a filter are refused unless the kernel exempts it,
 * which is tested on a child of ours.  If no process is under a filter, a warning says that one
 * may be later.  Returns an exit status. @launch: a program will be started, which may install a
 * filter.  @safe: the result.
 */
int seccomp_check(const struct memtap_filter_item *items, size_t nr, __u64 features,
		  bool launch, const char *safe);

/* Does a thread of the process run under a filter? */
bool seccomp_is_filtered(int pid);

#endif
