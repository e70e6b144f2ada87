/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SUPPRESS_INT_H
#define _SUPPRESS_INT_H

#include "leaks/suppress.h"

#define SUPPRESS_ERR	256

enum suppress_by { SUPPRESS_FUN, SUPPRESS_OBJ, SUPPRESS_SRC, SUPPRESS_ANY };

/* A line of Valgrind's. */
struct suppress_line {
	enum suppress_by by;	/* SUPPRESS_ANY: "..." */
	char *text;
};

struct suppress_rule {
	char *text;		/* LeakSanitizer's pattern as it was written; or a name */
	const char *body;	/* of the pattern, without '^' and '$' */
	size_t len;
	bool start, end;	/* anchored */
	struct suppress_line *lines;	/* Valgrind's: at least one; else NULL */
	size_t nr_lines;
	__u32 kinds;		/* mask of 1 << LEAK_* or SUPPRESS_FREE */
};

struct suppress {
	struct suppress_rule *at;
	size_t nr, room;
	size_t skipped;		/* suppressions of what memtap does not report */
	char skipped_kind[64];	/* of the first of them */
};

/* One more, all 0; NULL: no memory. */
struct suppress_rule *suppress_more(struct suppress *s);

/* Lines of a text, without blanks around them, and none that is empty or a comment. */
struct suppress_text {
	const char *at, *end;
	size_t line;		/* number of the one that was taken last */
	char *err;
};

bool suppress_line(struct suppress_text *t, const char **at, size_t *len);
int suppress_bad(const struct suppress_text *t, const char *why);

/* The rest of a block behind "{", with the line "}". */
int suppress_add_block(struct suppress *s, struct suppress_text *t);
bool suppress_block_matches(const struct suppress_rule *r, const struct suppress_frame *stack,
			    size_t nr, enum leak_kind kind);

#endif
