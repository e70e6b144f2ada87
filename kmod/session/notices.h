/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_NOTICES_H
#define _MEMTAP_NOTICES_H

#include <linux/types.h>

struct memtap_notice;
struct memtap_session;

/*
 * What happens, for whoever listens: generic netlink, see the contract.  Where the kernel
 * does not let the family be registered there are no notices, and all else works.
 */
void memtap_notices_init(void);
void memtap_notices_exit(void);
bool memtap_notices_work(void);

/* MEMTAP_NOTICE: the one with the number that @n has.  -ENOENT: it is not kept (any more) */
int memtap_notices_get(struct memtap_notice *n);

/* A session runs from now on: its tables are looked at until none does. */
void memtap_notices_watch(void);

#endif
