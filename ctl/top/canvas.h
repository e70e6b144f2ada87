/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TOP_CANVAS_H
#define _TOP_CANVAS_H

#include <stdbool.h>
#include <stdio.h>

/*
 * The contents of a screen: drawn here, compared by tests, and copied to a terminal by
 * screen.c.  Text that does not fit is cut.
 */
enum canvas_look { LOOK_PLAIN, LOOK_STRONG, LOOK_BAR, LOOK_CHOSEN, LOOK_WATCH, LOOK_BAD };

struct canvas_cell {
	char ch[5];		/* one character, UTF-8 */
	unsigned char look;
};

struct canvas {
	int rows, cols;
	struct canvas_cell *at;
};

/* Empty, of this size; false: no memory. */
bool canvas_begin(struct canvas *c, int rows, int cols);
void canvas_free(struct canvas *c);

/* Text of others, too: what acts on a terminal becomes '?'.  Returns the next column. */
int canvas_put(struct canvas *c, int y, int x, enum canvas_look look, const char *text);
int canvas_printf(struct canvas *c, int y, int x, enum canvas_look look, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* So that it ends before column @end, and takes @width at most. */
void canvas_right(struct canvas *c, int y, int end, int width, enum canvas_look look,
		  const char *text);
/* The whole line looks so. */
void canvas_line(struct canvas *c, int y, enum canvas_look look);

/* As text, without looks. */
void canvas_print(const struct canvas *c, FILE *out);

#endif
