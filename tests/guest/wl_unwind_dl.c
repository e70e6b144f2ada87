// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Call chains to wl_here() through the dynamic linker: lazily bound functions, and libraries that
 * are loaded and unloaded.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "wl_unwind.h"
#include "wl_unwind_lib.h"

/* The resolver of wl_pick() runs below the dynamic linker, in this call. */
WL_FN void wl_lazy(void)
{
	WL_SCRATCH();
	if (wl_pick(1) != 2)
		abort();
}

WL_FN void wl_library(const char *file, const char *name)
{
	void *lib = dlopen(file, RTLD_NOW);
	void (*enter)(const char *name);

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	enter = (void (*)(const char *))dlsym(lib, "wl_enter");
	if (!enter)
		abort();
	enter(name);
	/* leaves room for another one at the same place */
	dlclose(lib);
}

int main(int argc, char **argv)
{
	wl_begin(argc > 1 ? argv[1] : NULL);
	wl_lazy();
	wl_library("wl_unwind_one.so", "first-library");
	wl_library("wl_unwind_two.so", "library-in-its-place");
	wl_library("wl_unwind_one.so", "first-library-again");
	wl_end();
	return 0;
}
