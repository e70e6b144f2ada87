/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SECCOMP_H
#define _SECCOMP_H

#include <stdbool.h>

#include "uapi/memtap.h"

/*
 * Where probes on returns make a process call the kernel
 * (MEMTAP_FEATURE_URET_SYSCALL), a seccomp filter may kill it for that; not every
 * such kernel lets the call pass.  Refuses processes under a filter if this one
 * does not, which is tried on a child of our own; where nobody is under one, says
 * that somebody may be later.  Returns an exit status.
 * @launch: a program will be run, which may filter itself.  @safe: what is.
 */
int seccomp_check(const struct memtap_filter_item *items, size_t nr, __u64 features,
		  bool launch, const char *safe);

/* Does a thread of the process run under a filter? */
bool seccomp_is_filtered(int pid);

#endif
