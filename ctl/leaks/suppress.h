/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SUPPRESS_H
#define _SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "snap/snap.h"

/*
 * Suppressions of known leaks, in LeakSanitizer's format:
 *
 *	# a comment
 *	leak:PATTERN
 *
 * A leak is suppressed if PATTERN matches a part of the name of a function, source file or object
 * in its stack.  '*' matches any text.  '^' at the beginning and '$' at the end of PATTERN match
 * the ends of the name.
 *
 * Or in Valgrind's:
 *
 *	{
 *	   NAME
 *	   Memcheck:Leak
 *	   match-leak-kinds: definite,possible
 *	   fun:malloc
 *	   ...
 *	   obj:PATH
 *	}
 *
 * A leak is suppressed if its innermost frames are these: a function (fun:), an object file
 * (obj:), or a source file (src:), in each of which '*' matches any text and '?' any character;
 * "..." is any number of frames.  Memcheck:Free suppresses invalid and mismatched frees alike.
 * Suppressions of other tools and errors are skipped, and counted.
 *
 * One file may have both.
 */
struct suppress;

struct suppress *suppress_new(void);		/* NULL: no memory */
void suppress_free(struct suppress *s);

/* Add the suppressions of a text, or of a file: 0, or a negative errno and a sentence. */
int suppress_add(struct suppress *s, const char *text, size_t len, char err[256]);
int suppress_add_file(struct suppress *s, const char *path, char err[256]);

size_t suppress_nr(const struct suppress *s);
/* LeakSanitizer's pattern, or the name of Valgrind's. */
const char *suppress_pattern(const struct suppress *s, size_t i);

/* A function of a stack; what is not known is NULL, or 0. */
struct suppress_frame {
	const char *name;	/* as it is shown */
	const char *linkage;	/* before demangling, if that differs */
	const char *file;	/* of the source, */
	int line;
	const char *object;	/* the name of its file, */
	const char *path;	/* and where that is */
};

/* How many were skipped, and TOOL:KIND of the first. */
size_t suppress_skipped(const struct suppress *s, const char **kind);

/* Does anything depend on the kind of a leak? */
bool suppress_has_kinds(const struct suppress *s);

/* In the place of a kind of leak: a free that is wrong, by its stack. */
#define SUPPRESS_FREE	NR_LEAK_KINDS

/*
 * The first suppression of what a stack (innermost frame first) allocated, or -1.  Where it is not
 * known which blocks are lost (LEAK_UNKNOWN), those that suppress what is definitely or possibly
 * lost do.
 */
int suppress_find(const struct suppress *s, const struct suppress_frame *stack, size_t nr,
		  enum leak_kind kind);

/* operator new or new[], by its name before demangling; NULL is none. */
bool suppress_is_new(const char *linkage);

/* "definite", as match-leak-kinds has it; NULL: there is no such word. */
const char *suppress_kind(enum leak_kind kind);

#endif
