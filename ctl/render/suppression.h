/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_SUPPRESSION_H
#define _RENDER_SUPPRESSION_H

#include "render/int.h"

/* The suppression of what a row of live blocks shows, as Valgrind writes and reads it. */
#define SUPPRESSION_FRAMES	24	/* Valgrind reads no more */
#define SUPPRESSION_NAME	"insert_a_suppression_name_here"

struct suppression_frame {
	bool function;			/* fun:, else obj: */
	const char *before, *name, *after;	/* '*', or "" */
};

struct suppression {
	const char *kind;		/* of match-leak-kinds; or NULL: any */
	struct suppression_frame frames[SUPPRESSION_FRAMES];
	size_t nr;			/* 0: there is none, its stack is not known */
};

void suppression_make(const struct report *r, const struct rrow *row, struct suppression *s);
void suppression_put(const struct suppression *s, FILE *out);

#endif
