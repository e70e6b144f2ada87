/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LISTEN_H
#define _LISTEN_H

#include <linux/types.h>

#include "uapi/memtap.h"

/*
 * A notice: what the module multicasts is @kind and @nr; the rest is MEMTAP_NOTICE's, see
 * notice_fill(), and 0 or "" until then.
 */
struct notice {
	int kind;			/* MEMTAP_NOTICE_* */
	__u64 nr, value, dropped;
	__u32 session;
	__u32 pid;
	char comm[64], event[MEMTAP_NAME_LEN], reason[64];
};

typedef void notice_fn(const struct notice *n, void *ctx);

struct notices;

/*
 * Listens from now on.  0 or a negative errno; -ENOSYS: this tool was built without libnl;
 * -ENOENT: there is no such family.
 */
int notices_open(struct notices **n);
void notices_close(struct notices *n);
/* For poll(): POLLIN. */
int notices_fd(const struct notices *n);
/* Calls @fn for each that is there; -ENOBUFS: some are gone, they were not read in time. */
int notices_read(struct notices *n, notice_fn *fn, void *ctx);

/* Asks the device what @n is about; -ENOENT: the module has forgotten it. */
int notice_fill(int dev, struct notice *n);

#endif
