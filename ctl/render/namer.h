/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _NAMER_H
#define _NAMER_H

#include "session/args.h"
#include "snap/snap.h"
#include "sym/sym.h"

/*
 * Name the addresses among arguments: the kernel's, and those of the program that an event was
 * in, which is set before each of them.
 */
struct namer {
	struct args_namer args;		/* its ctx is this */
	struct sym *sym;
	const struct snap *snap;
	const struct memtap_rec_task *task;	/* or NULL: not known */
	__u32 era;			/* as its stack has it, or 0 */
};

void namer_init(struct namer *n, struct sym *sym, const struct snap *snap);

#endif
