/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SELFTEST_KERNEL_H
#define _SELFTEST_KERNEL_H

#include "selftest/selftest.h"

/* A kind of memory that the kernel has, who asks for it, and how we make him. */
struct st_kind {
	const char *name, *unit, *what;
	__s64 wanted;
	int (*prepare)(void), (*keep)(void), (*give_back)(void);
	const char *alloc, *also, *free;	/* tracepoints; @also may be missing */
	const char *allocs[ST_CALLERS], *frees[ST_CALLERS];
};

#define ST_KINDS	4
extern const struct st_kind st_kinds[ST_KINDS];

/* A step of all; what fails is left out from then on, with an errno in @err. */
void st_work_kernel(int step, int err[ST_KINDS]);

#endif
