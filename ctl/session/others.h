/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SESSION_OTHERS_H
#define _SESSION_OTHERS_H

#include <stdbool.h>
#include <stddef.h>

#include "uapi/memtap.h"

/* The sessions of all users of the module, the flight recorder's too. */
struct others {
	bool loaded;			/* the module is; else all else is 0 */
	struct memtap_other *at;	/* by number */
	size_t nr;
	/* live blocks of processes: one that several sessions follow is there once, with what
	 * the session has that knows most of it */
	struct memtap_other_row *rows;
	size_t nr_rows;
	size_t following;		/* sessions that keep live blocks, */
	size_t sampling;		/* and of them, those that sample */
	size_t unread;			/* sessions of which the accounts are not known */
};

/*
 * 0; -ENOMEM; or another errno: the module is loaded, and the device cannot be opened.  Freed by
 * others_free() in any case.
 */
int others_read(struct others *o);
void others_free(struct others *o);

#endif
