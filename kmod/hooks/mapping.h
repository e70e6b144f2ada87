/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_MAPPING_H
#define _MEMTAP_MAPPING_H

#include <linux/types.h>

/*
 * mapping.c: what a call that maps or unmaps really changed.  The call's arguments do not
 * tell what was mapped there before, and may be written to or not; functions below it,
 * which run under the lock of the address space, see that.
 */
enum memtap_mapping_call {
	MEMTAP_CALL_MMAP = 1,		/* with MAP_FIXED */
	MEMTAP_CALL_MREMAP,
	MEMTAP_CALL_MUNMAP,
	MEMTAP_CALL_MPROTECT,
};

/* Bytes of mappings, by what may be done with them. */
struct memtap_mapped {
	s64 write;
	s64 read;			/* or executed, and not written */
	s64 none;			/* PROT_NONE: only reserved */
};

/* @known: of mmap() and munmap() only @gone is told, of mprotect() only @came. */
struct memtap_mapping_change {
	struct memtap_mapped came, gone;
	bool known;
};

struct memtap_mapping_note;

/* The probes that @call needs, and no others: each costs all who call that function.  Under the
 * hooks' lock.
 */
void memtap_mapping_get(enum memtap_mapping_call call);
void memtap_mapping_put(enum memtap_mapping_call call);

/* At the entry of a call of current, and at its return.  NULL: no room, nothing is known. */
struct memtap_mapping_note *memtap_mapping_begin(enum memtap_mapping_call call);
void memtap_mapping_end(struct memtap_mapping_note *n, struct memtap_mapping_change *out);

/* The task is being freed: nobody is it any more. */
struct task_struct;
void memtap_mapping_task_gone(struct task_struct *task);

#endif
