// SPDX-License-Identifier: GPL-2.0-or-later
/* The C code that wl_unwind_go.go calls. */
#include "wl_unwind.h"

void goCallback(char *name);

WL_FN void wl_c_inner(const char *name)
{
	WL_SCRATCH();
	wl_here(name);
	WL_STAY();
}

WL_FN void wl_c_outer(const char *name)
{
	wl_c_inner(name);
	WL_STAY();
}

WL_FN void wl_c_calls_go(const char *name)
{
	goCallback((char *)name);
	WL_STAY();
}
