// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_cost: what a page fault, and a system call that allocates and frees in the kernel, take:
 * "fault NS alloc NS", the median of 15 rounds each.  Where the clock counts instructions
 * (scripts/guest --icount) these are instructions.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS	15
#define PAGES	4096
#define FILES	4096

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double faults(void)
{
	volatile char *p = mmap(NULL, PAGES * 4096UL, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double from;

	if (p == MAP_FAILED)
		exit(1);
	madvise((void *)p, PAGES * 4096UL, MADV_NOHUGEPAGE);
	from = now();
	for (size_t i = 0; i < PAGES; i++)
		p[i * 4096] = 1;
	from = now() - from;
	munmap((void *)p, PAGES * 4096UL);
	return from / PAGES;
}

static double allocations(void)
{
	const double from = now();

	for (int i = 0; i < FILES; i++)
		close(open("/dev/null", O_RDONLY));
	return (now() - from) / FILES;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double median(double (*of)(void))
{
	double at[ROUNDS];

	of();
	for (int i = 0; i < ROUNDS; i++)
		at[i] = of();
	qsort(at, ROUNDS, sizeof(at[0]), by_size);
	return at[ROUNDS / 2];
}

int main(void)
{
	const double fault = median(faults);

	printf("fault %.1f alloc %.1f\n", fault, median(allocations));
	return 0;
}
