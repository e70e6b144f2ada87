// SPDX-License-Identifier: GPL-2.0-or-later
/* A library that each short process of wl_load loads and unloads. */
#include <stdlib.h>

int wl_load_sum(int n)
{
	int *at = calloc(n + 1, sizeof(*at)), i, sum;

	if (!at)
		abort();
	for (i = 1; i <= n; i++)
		at[i] = at[i - 1] + i;
	sum = at[n];
	free(at);
	return sum;
}
