// SPDX-License-Identifier: GPL-2.0-or-later
/* A library that wl_die loads, calls and unloads. */
#include <stdlib.h>

#include "wl_die.h"

uint64_t die_lib(uint64_t x)
{
	uint64_t *volatile p = malloc(sizeof(x)), got;

	*p = die_truth(x) ^ 3;
	got = *p;
	free(p);
	return got;
}
