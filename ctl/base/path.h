/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _PATH_H
#define _PATH_H

#include <string.h>

/* What stands behind the last slash; all of it where nothing does. */
static inline const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

#endif
