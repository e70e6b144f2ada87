// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library with its own allocator, and one with libc's names.  Its constructor allocates memory.
 */
#include <stddef.h>

#include "workload.h"

static char pool[1 << 20];
static size_t used;

WL_FN void *lib_take(size_t n)
{
	size_t at = __atomic_fetch_add(&used, (n + 15) & ~15UL, __ATOMIC_RELAXED);

	return at + n > sizeof(pool) ? NULL : pool + at;
}

WL_FN void lib_give(void *p)
{
	*(volatile char *)p = 0;
}

static WL_FN void *lib_malloc(size_t n)
{
	size_t at = __atomic_fetch_add(&used, (n + 15) & ~15UL, __ATOMIC_RELAXED);

	wl_frame();
	return at + n > sizeof(pool) ? NULL : pool + at;
}

static WL_FN void lib_free(void *p)
{
	*(volatile char *)p = 1;
}

/* Inside we call them directly: by these names libc's would be found first. */
void *malloc(size_t n) __attribute__((alias("lib_malloc")));
void free(void *p) __attribute__((alias("lib_free")));

static __attribute__((constructor)) WL_FN void wl_constructor(void)
{
	int i;

	for (i = 0; i < 7; i++)
		lib_malloc(70);
	lib_free(lib_malloc(71));
	lib_take(72);
	wl_frame();
}
