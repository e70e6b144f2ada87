/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _PATTERN_H
#define _PATTERN_H

#include <stdbool.h>
#include <string.h>

/* Is @name a pattern of fnmatch(), and not only a literal name? */
static inline bool is_pattern(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

#endif
