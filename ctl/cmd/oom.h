/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_OOM_H
#define _CMD_OOM_H

#include "triage/oom.h"

/*
 * The next record after @nr, clean; *@lost are gone between them.  -ENOENT: there is none
 * (yet).  @fd: the device.
 */
int oom_next(int fd, __u64 nr, struct memtap_oom_record *r, __u64 *lost);

#endif
