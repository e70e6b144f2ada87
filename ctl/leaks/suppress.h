/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SUPPRESS_H
#define _SUPPRESS_H

#include <stddef.h>

/*
 * Leaks that somebody knows of already, in LeakSanitizer's format:
 *
 *	# a comment
 *	leak:PATTERN
 *
 * A leak is suppressed when PATTERN is found in the name of a function, a source
 * file or an object of its stack.  In it '*' stands for any text, '^' at its
 * start and '$' at its end for the ends of the name.
 */
struct suppress;

struct suppress *suppress_new(void);		/* NULL: no memory */
void suppress_free(struct suppress *s);

/* Add the lines of a text, or of a file: 0, or a negative errno and a sentence. */
int suppress_add(struct suppress *s, const char *text, size_t len, char err[256]);
int suppress_add_file(struct suppress *s, const char *path, char err[256]);

size_t suppress_nr(const struct suppress *s);
const char *suppress_pattern(const struct suppress *s, size_t i);

/* The first pattern that is found in @name, or -1; @name NULL: none. */
int suppress_find(const struct suppress *s, const char *name);

#endif
