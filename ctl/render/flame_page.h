/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _FLAME_PAGE_H
#define _FLAME_PAGE_H

#include <stdio.h>

#include "base/json.h"

/* What a node of the tree counts for. */
struct flame_value {
	char name[32];
	const char *unit;
	/*
	 * With a time line, what it is of some parts of it: "sum" of column .plus of these
	 * parts, less .minus, unless that is -1; "level": the same, of all parts from the first
	 * one on; "fixed": always the same.
	 */
	const char *how;		/* NULL: there is no time line */
	int plus, minus;
};

/*
 * A page that needs nothing else: the drawing library, a tree as JSON, and text around it.
 * A node of the tree is { "n": name, "l": how to colour it, "o": for its tooltip, "v": value,
 * "m": [the other values], "c": [nodes] }; names are text, or numbers in "names": [text] beside
 * the tree.  "l": "rest" stands for several that had no place.  Of two that are compared also "w"
 * and "x", what "v" and "m" were in the former; with a time line "t", [[part, column, ...]] of what
 * ends there.
 * Whatever names a program has, they reach the page only as JSON strings in which '<' cannot
 * occur.
 */
struct flame_page {
	const char *title, *subtitle, *foot;
	const struct flame_value *values;	/* to switch between; the first is "v" */
	size_t nr_values;
	__u32 bytes;			/* of a unit that is pages */
	const double *spans;		/* of a time line: seconds where its parts end, behind */
	size_t nr_spans;		/* the start of the first; 0 parts: there is none */
	void (*tree)(struct json *j, void *ctx);
	void *ctx;
};

void flame_page(const struct flame_page *p, FILE *out);

#endif
