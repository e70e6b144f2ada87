// SPDX-License-Identifier: GPL-2.0-or-later
/* An indirect function: the dynamic linker calls its resolver. */
#include "wl_unwind.h"
#include "wl_unwind_lib.h"

WL_FN static int wl_next(int n)
{
	return n + 1;
}

/* Asked only once what is called from here has been resolved: see -z lazy. */
__attribute__((used)) static int (*wl_choose(void))(int)
{
	wl_here("lazy-resolver");
	return wl_next;
}

int wl_pick(int n) __attribute__((ifunc("wl_choose")));
