// SPDX-License-Identifier: GPL-2.0-or-later
/* Call allocator functions, and one function that is single-stepped if it has a probe. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define TIMES	3000

/* Its first instruction is none that is emulated: for a test that must fail. */
__attribute__((noipa)) unsigned long stepped_through(unsigned long a, unsigned long b)
{
	return a * 3 + b;
}

static void work(void)
{
	void *volatile p[8];
	size_t i, k;

	for (i = 0; i < TIMES; i++) {
		for (k = 0; k < 8; k++)
			p[k] = k % 2 ? malloc(i % 600 + 1) : calloc(k + 1, i % 50 + 1);
		for (k = 0; k < 4; k++)
			p[k] = realloc(p[k], i % 900 + 1);
		for (k = 0; k < 8; k++)
			free(p[k]);
		free(NULL);
	}
	if (posix_memalign((void **)&p[0], 64, 100))
		exit(1);
	free(p[0]);
}

int main(void)
{
	work();
	return stepped_through(1, 2) != 5;
}
