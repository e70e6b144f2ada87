/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_EACH_H
#define _CMD_EACH_H

#include <pthread.h>

#include "base/opt.h"
#include "render/each.h"
#include "render/lines.h"
#include "session/plan.h"
#include "watch/watch.h"

/*
 * Print single events of a session with MEMTAP_CFG_RING, in order, soon after they happened, in a
 * thread of its own.
 */
struct each;

/* After START, in columns of @lines, or NULL: as @form.  NULL: no memory, no thread. */
struct each *each_start(struct watch *w, const struct plan *plan, const struct opts *o,
			const struct lines_ask *lines, enum each_form form, FILE *out);
/* An errno of writing, so far. */
int each_error(struct each *e);
/* Were as many events printed as were asked for? */
bool each_enough(struct each *e);
/* After STOP: the rest is printed; an errno of writing, or 0. */
int each_end(struct each *e);

#endif
