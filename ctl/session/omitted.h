/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _OMITTED_H
#define _OMITTED_H

#include <stddef.h>

/*
 * What a pattern matches and cannot be probed, or not all of it.  It does not refuse the rest, but
 * is listed, with the reason.
 */
struct omitted {
	struct omitted_one {
		char *name;
		char why[96];
	} *at;
	size_t nr, room;
};

/* Without memory it is forgotten. */
void omitted_add(struct omitted *o, const char *name, const char *why);
/* Print names by reason, as notes. */
void omitted_say(const struct omitted *o);
void omitted_free(struct omitted *o);

#endif
