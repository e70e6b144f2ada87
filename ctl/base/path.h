/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _PATH_H
#define _PATH_H

#include <string.h>

/* The part of a path behind its last slash; the whole path if there is none. */
static inline const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

#endif
