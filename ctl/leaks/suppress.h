/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SUPPRESS_H
#define _SUPPRESS_H

#include <stddef.h>

/*
 * Suppressions of known leaks, in LeakSanitizer's format:
 *
 *	# a comment
 *	leak:PATTERN
 *
 * A leak is suppressed if PATTERN matches a part of the name of a function, source file or object
 * in its stack.  '*' matches any text.  '^' at the beginning and '$' at the end of PATTERN match
 * the ends of the name.
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
