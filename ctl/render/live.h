/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_LIVE_H
#define _RENDER_LIVE_H

#include "render/render.h"

/*
 * Print the rows of a running session for a screen: the largest first, each with its stack, and a
 * last line with the numbers of seen and lost events.  A line of a stack begins with a
 * blank.  Returns 0 or a negative errno.
 */
int render_live(const struct snap *snap, struct sym *sym, const struct render_opts *o,
		FILE *out);

#endif
