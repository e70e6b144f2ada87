/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _BASE_LIBRARY_H
#define _BASE_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* A function of a library that is loaded when it is needed. */
struct library_function {
	const char *name;
	void *to;		/* a pointer to it */
};

/*
 * Load the first of @names (ends with NULL) that is here, for good, and find all @nr functions.
 * False: there is none, or a function is missing; some pointers may be set all the same.
 */
static inline bool library_load(const char *const *names, const struct library_function *functions,
				size_t nr)
{
	void *lib = NULL, *function;

	while (!lib && *names)
		lib = dlopen(*names++, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return false;
	for (size_t i = 0; i < nr; i++) {
		function = dlsym(lib, functions[i].name);
		if (!function)
			return false;
		memcpy(functions[i].to, &function, sizeof(function));
	}
	return true;
}

#endif
