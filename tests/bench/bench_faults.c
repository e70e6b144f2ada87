// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Page faults at the end of a chain of calls, on demand: for each line on stdin
 * one round of as many faults, and the processor time of one of them on stdout,
 * in ns.  Under -icount that is instructions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE	__attribute__((noinline, noclone))
#define BARRIER		__asm__ volatile("" ::: "memory")

static NOINLINE void touch(volatile char *p, long pages)
{
	const long size = sysconf(_SC_PAGESIZE);

	for (long i = 0; i < pages; i++)
		p[i * size] = 1;
}

/* Each of another size, as real frames are. */
#define LINK(name, next, words)						\
static NOINLINE void name(volatile char *p, long pages)		\
{									\
	volatile long room[words];					\
									\
	room[0] = pages;						\
	next(p, room[0]);						\
	BARRIER;							\
}

LINK(link7, touch, 2)
LINK(link6, link7, 4)
LINK(link5, link6, 8)
LINK(link4, link5, 2)
LINK(link3, link4, 14)
LINK(link2, link3, 4)
LINK(link1, link2, 6)

static NOINLINE double one_round(long pages)
{
	const size_t len = (size_t)(pages * sysconf(_SC_PAGESIZE));
	struct timespec from, to;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	link1(p, pages);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	munmap(p, len);
	return ((double)(to.tv_sec - from.tv_sec) * 1e9 +
		(double)(to.tv_nsec - from.tv_nsec)) / (double)pages;
}

int main(void)
{
	char line[64];
	double ns;

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		ns = one_round(atol(line));
		printf("%.1f\n", ns);
	}
	return 0;
}
