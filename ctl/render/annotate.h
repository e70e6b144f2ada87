/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ANNOTATE_H
#define _ANNOTATE_H

#include "render/render.h"

/* How source lines are shown. */
struct annotate_opts {
	const char *source;		/* of this file alone: its path or the end of it; or
					 * NULL */
	const struct opt_strs *paths;	/* "FROM=TO": where sources are that are not where they
					 * were compiled */
	__u32 context;			/* lines around those with numbers */
};

/*
 * Source lines beside what was caused from each.  0 or a negative errno: ENODATA, no frame has
 * a source line; ENOENT, none is of @a->source.
 */
int render_annotate(const struct snap *snap, struct sym *sym, const struct render_opts *o,
		    const struct annotate_opts *a, FILE *out);

#endif
