// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes for two seconds or more, three functions deep, so that all that happens meanwhile are
 * interrupts: what runs in them shows the stack of a program that is in the middle of
 * calls whose returns are probed.  Exits with 0 if every call came back right.
 */
#include <time.h>

#include "workload.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

WL_FN int wl_inside(int x)
{
	const double end = now() + 2;
	unsigned int n = 0;
	volatile int i;

	/* also where it had no processor for all that time */
	do {
		for (i = 0; i < 1000000; i++)
			;
	} while (now() < end || ++n < 300);
	return x + 1;
}

WL_FN int wl_around(int x)
{
	return wl_inside(x + 1) + 1;
}

WL_FN int wl_spin(int x)
{
	return wl_around(x + 1) + 1;
}

int main(void)
{
	return wl_spin(0) != 5;
}
