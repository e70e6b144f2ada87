/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_TABLES_H
#define _MEMTAP_TABLES_H

#include <linux/list.h>

#include "core/unwindtab.h"

struct memtap_session;

/*
 * One file's rows, as MEMTAP_TABLE brought them: one copy for all sessions and
 * processes that have the same, reference counted, never changed.
 */
struct memtap_shared {
	struct list_head node;		/* of all, under tables_lock */
	u32 refs;
	u32 hash;
	size_t bytes;			/* of everything */
	struct unwindtab tab;
	u8 content[] __aligned(8);	/* rules, rows, kinds; then the blocks */
};

/* Room for a table; its arrays are to be filled in.  NULL: no memory. */
struct memtap_shared *memtap_shared_new(u32 nr_rows, u32 nr_rules);

/* One that nobody has got yet. */
void memtap_shared_free(struct memtap_shared *sh);

/* The bytes that memtap_shared_new() takes. */
size_t memtap_shared_bytes(u32 nr_rows, u32 nr_rules);

/* Where its arrays are, to be written before memtap_shared_get(). */
struct memtap_rule *memtap_shared_rules(struct memtap_shared *sh);
u32 *memtap_shared_rows(struct memtap_shared *sh);
u16 *memtap_shared_kinds(struct memtap_shared *sh);

/*
 * Checks @sh and takes it over: what comes back is it, or an equal one that was
 * there.  ERR_PTR(-EINVAL): it breaks the contract; then it is freed.
 */
struct memtap_shared *memtap_shared_get(struct memtap_shared *sh);
void memtap_shared_put(struct memtap_shared *sh);

#endif
