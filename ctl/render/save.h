/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_SAVE_H
#define _RENDER_SAVE_H

#include "snap/snap.h"
#include "sym/sym.h"

/* What a file has beyond what the device says. */
struct save_more {
	const char *const *notes;	/* "key=value" lines, NULL behind the last */
	const struct memtap_oom_record *ooms;	/* clean ones */
	size_t nr_ooms;
};

/*
 * Write a .memtap file: the bytes of @s as they came, the names of all addresses
 * in its stacks, the sentences of sym_notes() as "note=SENTENCE", what @more has, END.
 * Atomic: a file of that name is replaced when all is written, or not at all.
 * Only its owner may read it: it has addresses of the kernel.
 */
int save_snap(const struct snap *s, struct sym *sym, const struct save_more *more,
	      const char *path);

#endif
