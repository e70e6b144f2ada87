/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SNAP_INT_H
#define _SNAP_INT_H

/* What the snap_*.c files share; nobody else needs it. */
#include "snap.h"

/* Put a sentence in @err (256 bytes), return @code. */
int snap_bad(char *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Sort the tables, and check that ids are unique and references lead somewhere. */
int snap_index(struct snap *s, char *err);

struct sym;

/* Write the tool's records and their END. */
int snap_put_names(FILE *f, const struct snap *s, struct sym *sym,
		   const char *const *notes);

/* Fill in s->counters: one for each key, whatever the CPU. */
int snap_merge(struct snap *s, char *err);

#endif
