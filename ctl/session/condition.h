/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CONDITION_H
#define _CONDITION_H

#include <stdbool.h>
#include <stddef.h>

#include "session/args.h"

/* Apply --filter to records that are no events of a session. */
struct condition {
	struct args args;
};

/*
 * @f: what there is of it, @what: what it is, for messages.  0, or -EINVAL with a sentence in
 * @err.
 */
int condition_make(struct condition *c, const char *text, const struct format *f,
		   const char *what, char err[ARGS_ERR]);
bool condition_holds(const struct condition *c, const void *record, size_t len);

#endif
