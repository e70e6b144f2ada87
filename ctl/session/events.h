/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _EVENTS_H
#define _EVENTS_H

#include <stddef.h>

#include "uapi/memtap.h"

/*
 * Read single events of a session (MEMTAP_EVENTS) in a thread of its own, and pass them on in
 * order.
 */
struct events;

/* Some of them, ascending; an errno ends it.  They are gone when this returns. */
typedef int (*events_fn)(void *ctx, const struct memtap_one *const *ones, size_t nr);

/* After START.  NULL: no memory, no thread. */
/* What the function may return: it wants no more.  It is events_error()'s result then. */
#define EVENTS_ENOUGH	(-1)

struct events *events_start(int dev, events_fn fn, void *ctx);
/* An errno so far, or 0; a SIGCHLD to the thread that began it tells of one. */
int events_error(struct events *e);
/* After STOP: the rest is handed on; an errno, or 0. */
int events_end(struct events *e);

#endif
