/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _FUNCTIONS_H
#define _FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Can a pattern take this kernel function? */
enum functions_how {
	FUNCTIONS_GOOD,
	FUNCTIONS_FORBIDDEN,	/* the kernel allows no probe on it */
	FUNCTIONS_UNTRACED,	/* ftrace does not have it: notrace, or gone since boot */
};

/*
 * Call @fn for each name of kernel functions that matches @pattern, sorted, until it returns other
 * than 0, and return that.  @several: functions have the name; a probe stands on one of them.
 */
int functions_find(const char *pattern,
		   int (*fn)(const char *name, enum functions_how how, bool several, void *ctx),
		   void *ctx);

#endif
