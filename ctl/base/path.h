/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _PATH_H
#define _PATH_H

#include <stdbool.h>
#include <string.h>

/* The part of a path behind its last slash; the whole path if there is none. */
static inline const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Is it the directory @of, or below it?  "" and "/": all are. */
static inline bool path_is_below(const char *path, const char *of)
{
	size_t len = strlen(of);

	while (len && of[len - 1] == '/')
		len--;
	return !len || (!strncmp(path, of, len) && (!path[len] || path[len] == '/'));
}

#endif
