/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_CACHES_H
#define _RENDER_CACHES_H

#include <stdbool.h>
#include <stdio.h>

#include "machine/machine.h"
#include "snap/snap.h"

/* `memtap slab` and `memtap pages`: allocations and frees by cache or order. */
struct caches_opts {
	const struct machine *m;	/* what the kernel says is there, or NULL */
	double seconds;			/* since the start */
	__u32 top;			/* rows; 0: all */
	bool pages, json, timestamp;
	bool final;			/* all of the time, not since the last */
	bool waste;			/* how much was given beyond what was asked for */
};

/* What was printed last: rates are since then. */
struct caches {
	struct memtap_rec_cache *before;
	size_t nr;
	double seconds;
	unsigned int printed;
};

/* -ENOMEM */
int caches_print(struct caches *c, const struct snap *s, const struct caches_opts *o, FILE *out);
void caches_free(struct caches *c);

#endif
