/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LEAKS_SIMILAR_H
#define _LEAKS_SIMILAR_H

#include <stdbool.h>

#include "snap/snap.h"

/* `leaks -k --similar`: find older objects that look like the leaking ones. */
struct similar {
	bool asked;
	char name[MEMTAP_CACHE_LEN];	/* of the cache; "": there is none to ask about */
	int err;			/* of asking */
	struct memtap_similar arg;
};

/*
 * The stack that holds most bytes of one cache of slabs, in objects that are so old: @r's name,
 * and what of its arg says about whom it asks.  False: there is none, or no memory.
 */
bool similar_suspect(const struct snap *s, __u64 older_ns, struct similar *r);

/* What is said of it, in lines for the foot: how many. */
#define SIMILAR_LINES	2
#define SIMILAR_TEXT	512
size_t similar_footer(const struct similar *r, char (*lines)[SIMILAR_TEXT]);

#endif
