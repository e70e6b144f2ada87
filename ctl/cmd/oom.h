/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_OOM_H
#define _CMD_OOM_H

#include "base/opt.h"
#include "machine/machine.h"
#include "triage/oom.h"

/*
 * Reads the next record after @nr, through oom_clean(); *@lost were dropped between them.
 * -ENOENT: there is none yet.  @fd: the device.
 */
int oom_next(int fd, __u64 nr, struct memtap_oom_record *r, __u64 *lost);
/* The same; completes the trigger's user stack by the copy that the module has of it. */
int oom_next_stack(int fd, __u64 nr, struct memtap_oom_record *r, __u64 *lost);

/*
 * Replaces the kills read from the kernel log by the module's records, if the module is loaded
 * and may be opened.
 */
void oom_kills(struct machine *m);

struct oom_list {
	struct memtap_oom_record *at;
	size_t nr;
	__u64 lost;			/* records dropped since; some may have matched */
};

/*
 * Reads the records from @ns (CLOCK_MONOTONIC) until @until that match the filters of @o, if any;
 * l->at is to be free()d.  @until OOM_NOW: waits until that of a kill that just happened is
 * complete; else it shall be OOM_COMPLETE_NS ago.  0 or a negative errno.
 */
#define OOM_NOW		(~0ULL)
#define OOM_COMPLETE_NS	100000000
int oom_since(int fd, __u64 ns, __u64 until, const struct opts *o, struct oom_list *l);

#endif
