// SPDX-License-Identifier: GPL-2.0-or-later
/* A library that is loaded at run time; FRAME is the size of its frames. */
#include <string.h>

#include "wl_unwind.h"
#include "wl_unwind_lib.h"

WL_FN void wl_inner(const char *name)
{
	char buf[FRAME];

	memset(buf, 1, sizeof(buf));
	WL_SCRATCH();
	wl_here(name);
	__asm__ volatile("" : : "r" (buf));
}

WL_FN void wl_enter(const char *name)
{
	char buf[2 * FRAME];

	memset(buf, 1, sizeof(buf));
	wl_inner(name);
	__asm__ volatile("" : : "r" (buf));
}

/* Needs no other place to be called at than where its bytes are. */
WL_FN void wl_relay(void (*fn)(void))
{
	char buf[FRAME];

	__asm__ volatile("" : : "r" (buf) : "memory");
	fn();
	__asm__ volatile("" : : "r" (buf) : "memory");
}

__attribute__((constructor)) static void wl_loaded(void)
{
	wl_here("constructor");
	WL_STAY();
}

__attribute__((destructor)) static void wl_unloaded(void)
{
	wl_here("destructor");
	WL_STAY();
}
