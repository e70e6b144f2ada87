/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_LIVE_H
#define _RENDER_LIVE_H

#include "render/render.h"

/*
 * The rows of a session that runs, for a screen: the largest first, each with its stack,
 * and a line of what was seen and lost at the end.  A line that begins with a blank is of a
 * stack.  0 or a negative errno.
 */
int render_live(const struct snap *snap, struct sym *sym, const struct render_opts *o,
		FILE *out);

#endif
