/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _PATTERN_H
#define _PATTERN_H

#include <stdbool.h>
#include <string.h>

/* Does fnmatch() take more in @name than the letters that stand there? */
static inline bool is_pattern(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

#endif
