// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Was an instruction of ours stepped through?  The kernel copies what it cannot
 * emulate to a page of its own in this process, a piece of 128 bytes for each thread
 * at a time: to the first one after that of the return trampoline.  What was put there
 * stays.
 *
 * Prints "stepped" or "not stepped", and "no page" when no probe was ever hit.
 */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT	128
#define PAGE	4096
#define TIMES	3000

/* Its first instruction is none that is emulated: for a test that must fail. */
__attribute__((noipa)) unsigned long stepped_through(unsigned long a, unsigned long b)
{
	return a * 3 + b;
}

static const unsigned char *find_page(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long start = 0;
	char line[512];

	if (!f)
		exit(1);
	while (fgets(line, sizeof(line), f)) {
		if (strstr(line, "[uprobes]"))
			start = strtoul(line, NULL, 16);
	}
	fclose(f);
	return (const unsigned char *)(uintptr_t)start;
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
	const unsigned char *page;
	size_t i;

	work();
	if (stepped_through(1, 2) != 5)
		return 1;
	page = find_page();
	if (!page) {
		puts("no page");
		return 0;
	}
	for (i = SLOT; i < PAGE && !page[i]; i++)
		;
	puts(i < PAGE ? "stepped" : "not stepped");
	return 0;
}
