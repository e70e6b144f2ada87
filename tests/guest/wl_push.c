// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_push: at each line of standard input it allocates 100 blocks of 1000 bytes and frees 60 of
 * them, touches 50 pages, and prints "TIMES" so far.  It ends with its input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE	4096

static void *volatile kept[100];

__attribute__((noinline)) static void wl_push_allocate(void)
{
	for (int i = 0; i < 100; i++)
		kept[i] = malloc(1000);
	for (int i = 0; i < 60; i++)
		free(kept[i]);
}

__attribute__((noinline)) static void wl_push_touch(void)
{
	volatile char *p = mmap(NULL, 50 * PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((void *)p, 50 * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < 50; i++)
		p[i * PAGE] = 1;
}

int main(void)
{
	char line[16];
	int times = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		wl_push_allocate();
		wl_push_touch();
		printf("%d\n", ++times);
	}
	return 0;
}
