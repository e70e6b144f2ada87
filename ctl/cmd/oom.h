/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_OOM_H
#define _CMD_OOM_H

#include "base/opt.h"
#include "machine/machine.h"
#include "triage/oom.h"

/*
 * The next record after @nr, clean; *@lost are gone between them.  -ENOENT: there is none
 * (yet).  @fd: the device.
 */
int oom_next(int fd, __u64 nr, struct memtap_oom_record *r, __u64 *lost);

/*
 * Kills of which the module has a record, in the place of what the kernel's log says of them,
 * if it is loaded and may be asked.
 */
void oom_kills(struct machine *m);

struct oom_list {
	struct memtap_oom_record *at;
	size_t nr;
	__u64 lost;			/* that may have been of them, and are kept no longer */
};

/*
 * The records since @ns (of CLOCK_MONOTONIC) of those that @o names, where it names somebody;
 * to be free()d.  0 or a negative errno; nothing where the module keeps none.
 */
int oom_since(int fd, __u64 ns, const struct opts *o, struct oom_list *l);

#endif
