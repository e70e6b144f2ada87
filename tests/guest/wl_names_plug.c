// SPDX-License-Identifier: GPL-2.0-or-later
/* A plugin whose function has the name STEP. */
#include <stdlib.h>
#include <string.h>

int plugin_run(int bytes, void (*stop)(int));
void *STEP(int bytes, void (*stop)(int));

#ifdef PADDED	/* the others have nothing there */
int padding(int n);

__attribute__((noinline)) int padding(int n)
{
	volatile int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i * n;
	return sum;
}
#endif

__attribute__((noinline)) void *STEP(int bytes, void (*stop)(int))
{
	char *p;

	stop(1);
	p = malloc(bytes);
	memset(p, 1, bytes);
	return p;
}

int plugin_run(int bytes, void (*stop)(int))
{
	STEP(bytes, stop);
	__asm__ volatile("");
	return bytes;
}
