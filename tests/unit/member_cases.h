/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _MEMBER_CASES_H
#define _MEMBER_CASES_H

/* What member_cases.c tells: an expression, as C and memtap have it, and what it is. */
struct member_case {
	const char *expression;
	long number;
	const char *text;		/* of a string; or NULL */
};

#define MEMBER_CASES	64

/* All that the expressions lead to is here. */
struct member_memory {
	void *at;
	unsigned int len;
	const void *first, *second;	/* arguments 2 and 3; the first is 7 */
	struct member_case *cases;
};

#endif
