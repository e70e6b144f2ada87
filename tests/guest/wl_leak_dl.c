// SPDX-License-Identifier: GPL-2.0-or-later
/* Leak blocks by the allocators of libraries that are loaded and unloaded at run time. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "workload.h"
#include "wl_leak.h"

#define WORK	"wl_worker;wl_work;"

enum { CONSTRUCTOR, MALLOC, OWN, LIBC };

struct wl_line wl_lines[] = {
	[CONSTRUCTOR]	= { "leak", WORK "wl_load;wl_constructor", 0, 0 },
	[MALLOC]	= { "leak", WORK "wl_use;wl_by_malloc", 0, 0 },
	[OWN]		= { "leak", WORK "wl_use;wl_by_own", 0, 0 },
	[LIBC]		= { "leak", WORK "wl_by_libc", 0, 0 },
};
const size_t wl_nr_lines = sizeof(wl_lines) / sizeof(wl_lines[0]);

static void *lib;

WL_FN void wl_load(void)
{
	lib = dlopen(wl_opts.file, RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	if (!wl_lines[CONSTRUCTOR].count)
		wl_add(CONSTRUCTOR, 8, 7 * 70 + 72);
}

static void *symbol(const char *name)
{
	void *s = dlsym(lib, name);

	if (!s)
		wl_die(name);
	return s;
}

WL_FN void wl_by_malloc(void *(*take)(size_t), void (*give)(void *))
{
	int i;

	for (i = 0; i < 10; i++) {
		take(11);
		give(take(12));
	}
	wl_add(MALLOC, 10, 110);
	wl_frame();
}

WL_FN void wl_by_own(void *(*take)(size_t), void (*give)(void *))
{
	int i;

	for (i = 0; i < 10; i++) {
		take(21);
		give(take(22));
	}
	wl_add(OWN, 10, 210);
	wl_frame();
}

WL_FN void wl_use(void)
{
	wl_by_malloc((void *(*)(size_t))symbol("malloc"), (void (*)(void *))symbol("free"));
	wl_by_own((void *(*)(size_t))symbol("lib_take"), (void (*)(void *))symbol("lib_give"));
	wl_frame();
}

WL_FN void wl_by_libc(void)
{
	malloc(31);
	wl_add(LIBC, 1, 31);
	wl_frame();
}

int wl_prepare(void)
{
	return wl_opts.file ? 0 : -1;
}

void wl_work(unsigned int thread)
{
	unsigned long i;

	(void)thread;
	for (i = 0; i < wl_opts.rounds; i++) {
		wl_load();
		wl_use();
	}
	wl_by_libc();
}
