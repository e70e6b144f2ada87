/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_NAMES_H
#define _MEMTAP_NAMES_H

#include "port.h"
#include "uapi.h"

/*
 * What the members of the contract's enumerations are called (uapi/memtap_names.h).  Never
 * NULL: a number that this module or tool does not know has no better name than that.
 */
#define NAME_UNKNOWN	"unknown-reason"

const char *lost_name(u32 reason);	/* MEMTAP_LOST_*: "table-full" */
const char *part_name(u32 reason);	/* MEMTAP_PART_*: "no-table" */
const char *part_sentence(u32 reason);	/* "in files without a table yet" */
const char *unit_name(u32 unit);	/* MEMTAP_UNIT_*: "bytes"; "" for none */
const char *hook_name(u32 state);	/* MEMTAP_HOOK_*: "attached" */
const char *way_name(u32 way);		/* MEMTAP_WAY_*: "kprobe" */
const char *mismatch_name(u32 kind);	/* MEMTAP_MISMATCH_*: "double"; else "other" */
const char *reach_name(u32 kind);	/* MEMTAP_REACH_*: "definite"; else "unknown" */
const char *cache_kind_name(u32 kind);	/* MEMTAP_CACHE_*: "slab"; else "unknown" */
const char *space_name(u32 bit);	/* of MEMTAP_SPACE_* 1 << bit: "start"; NULL: none */
const char *key_name(u32 bit);		/* of MEMTAP_KEY_* 1 << bit: "kernel"; NULL: none */
const char *key_sentence(u32 bit);	/* "in kernel mode"; NULL: none */
const char *constraint_name(u32 constraint);	/* MEMTAP_CONSTRAINT_*: "memcg" */
const char *constraint_sentence(u32 constraint);	/* "in its cgroup" */
const char *charged_name(u32 kind);	/* MEMTAP_CHARGED_*: "page-tables" */
const char *charged_sentence(u32 kind);	/* "page tables" */
const char *vm_name(u32 counter);	/* MEMTAP_VM_*: "shmem" */
const char *vm_sentence(u32 counter);	/* "shared memory and tmpfs" */
const char *reclaim_name(u32 counter);	/* MEMTAP_RECLAIM_*: "scanned-kswapd" */

#endif
