// SPDX-License-Identifier: GPL-2.0-or-later
/* Name C++ classes by what the compiler wrote beside their tables. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <string.h>

#include "sym/cxx.h"

char *cxx_without(const char *prefix, char *name)
{
	const size_t len = strlen(prefix);

	if (name && !strncmp(name, prefix, len))
		memmove(name, name + len, strlen(name + len) + 1);
	return name;
}

char *cxx_class(const char *type)
{
	char mangled[CXX_TYPE_LEN + 8];

	if (*type == '*')		/* of a type that is of one file alone */
		type++;
	if (strlen(type) >= CXX_TYPE_LEN || strlen(type) < 2)
		return NULL;
	for (const char *p = type; *p; p++)
		if (*p < '!' || *p > '~')
			return NULL;
	snprintf(mangled, sizeof(mangled), "_ZTS%s", type);
	return cxx_without("typeinfo name for ", cxx_demangle(mangled));
}
