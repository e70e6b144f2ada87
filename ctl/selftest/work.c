// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Known work in user space.  ctl/Makefile exports the functions selftest_*, so that `strip` keeps
 * their names.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alone.h"
#include "selftest/selftest.h"

/* Neither inlined nor copied, nor left before what they call returns. */
#define FN	ALONE __attribute__((used))
#define STAY()	__asm__ volatile("" ::: "memory")

#define THREADS		4
#define SMALL_ROUNDS	150
#define LARGE		5
#define LARGE_SIZE	300000
#define LIST		10
#define LIST_SIZE	48
#define INSIDE		10
#define INSIDE_SIZE	256
#define REACHED		50
#define REACHED_SIZE	80
#define PASSING		2000

static const size_t small_sizes[] = { 24, 40, 100, 200, 1000 };
#define SMALL_SIZES	(24 + 40 + 100 + 200 + 1000)
#define SMALL		(THREADS * SMALL_ROUNDS)	/* of each size */

const struct st_leak st_leaks[] = {
	{ "selftest_lose_small", LEAK_DEFINITE, "definitely lost, 4 threads",
	  SMALL * 5, SMALL * SMALL_SIZES },
	{ "selftest_lose_large", LEAK_DEFINITE, "definitely lost, large",
	  LARGE, LARGE * LARGE_SIZE },
	{ "selftest_lose_list", LEAK_DEFINITE, "definitely lost, a list", 1, LIST_SIZE },
	{ "selftest_lose_list", LEAK_INDIRECT, "indirectly lost, the rest",
	  LIST - 1, (LIST - 1) * LIST_SIZE },
	{ "selftest_point_inside", LEAK_POSSIBLE, "possibly lost",
	  INSIDE, INSIDE * INSIDE_SIZE },
	{ "selftest_reach", LEAK_REACHABLE, "still reachable",
	  REACHED, REACHED * REACHED_SIZE },
	{ "selftest_free", LEAK_REACHABLE, "left of 2,000 freed", 0, 0 },
};

const size_t st_nr_leaks = sizeof(st_leaks) / sizeof(st_leaks[0]);

void selftest_lose_small(void);
void selftest_lose_large(void);
void selftest_lose_list(void);
void selftest_point_inside(void);
void selftest_reach(void);
void selftest_free(void);
void selftest_hold(void);
void selftest_keep(void);
void selftest_touch(char *area, size_t pages);
void selftest_grow_heap(void);
void selftest_shrink_heap(void);
void selftest_map(void);
void selftest_unmap(void);

static void *volatile inside[INSIDE], *volatile reached[REACHED];

/* ---- leaks ---- */

/* No compiler shall see that what this hands out is never given back. */
static void *(*volatile allocate)(size_t size) = malloc;

/* A block that cannot be had is one that is missed, and told by the report. */
FN static void *take(size_t size)
{
	char *p = allocate(size);

	if (p)
		memset(p, 0, size);
	STAY();
	return p;
}

/* Addresses must not survive in dead parts of the stack. */
FN static void wipe(void)
{
	volatile char room[8192];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

FN void selftest_lose_small(void)
{
	for (int i = 0; i < SMALL_ROUNDS; i++)
		for (size_t k = 0; k < sizeof(small_sizes) / sizeof(small_sizes[0]); k++)
			take(small_sizes[k]);
	STAY();
}

FN void selftest_lose_large(void)
{
	for (int i = 0; i < LARGE; i++)
		take(LARGE_SIZE);
	STAY();
}

FN void selftest_lose_list(void)
{
	void **first = NULL, **item;

	for (int i = 0; i < LIST; i++) {
		item = take(LIST_SIZE);
		if (!item)
			return;
		*item = first;
		first = item;
	}
	STAY();
}

FN void selftest_point_inside(void)
{
	for (int i = 0; i < INSIDE; i++)
		inside[i] = (char *)take(INSIDE_SIZE) + INSIDE_SIZE / 2;
	STAY();
}

FN void selftest_reach(void)
{
	for (int i = 0; i < REACHED; i++)
		reached[i] = take(REACHED_SIZE);
	STAY();
}

FN void selftest_free(void)
{
	static void *passing[PASSING];

	for (int i = 0; i < PASSING; i++)
		passing[i] = take(small_sizes[i % 5]);
	for (int i = 0; i < PASSING; i++)
		free(passing[i]);
	memset(passing, 0, sizeof(passing));
	STAY();
}

static void *lose_in_thread(void *arg)
{
	selftest_lose_small();
	wipe();
	return arg;
}

/* All in threads of their own: what their stacks remember goes with them. */
static void *leak_in_thread(void *arg)
{
	selftest_lose_large();
	selftest_lose_list();
	selftest_point_inside();
	selftest_reach();
	selftest_free();
	wipe();
	return arg;
}

int st_work_leak(void)
{
	pthread_t threads[THREADS + 1];
	int nr = 0;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	while (nr <= THREADS && !pthread_create(&threads[nr], NULL,
						nr ? lose_in_thread : leak_in_thread, NULL))
		nr++;
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	wipe();
	return nr > THREADS ? 0 : EXIT_FAILURE;
}

/* ---- a process that goes on ---- */

static void *held[ST_HELD_BLOCKS];

FN void selftest_hold(void)
{
	for (int i = 0; i < ST_HELD_BLOCKS; i++)
		held[i] = take(ST_HELD_BYTES / ST_HELD_BLOCKS);
	STAY();
}

int st_work_hold(int step)
{
	switch (step) {
	case ST_PREPARE:
		/* the allocator's own first calls are behind it */
		selftest_free();
		return 0;
	case ST_KEEP:
		selftest_hold();
		selftest_free();
		return 0;
	default:
		for (int i = 0; i < ST_HELD_BLOCKS; i++)
			free(held[i]);
		return 0;
	}
}

/* ---- pages, heap, mappings ---- */

static char *area;
static char *maps[ST_MMAP_CALLS];
static unsigned long heap;	/* the break */
static long touched;		/* minor faults */

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* What the kernel itself counts of this process, which has one thread. */
static long minor_faults(void)
{
	struct rusage of;

	return getrusage(RUSAGE_SELF, &of) ? 0 : of.ru_minflt;
}

FN void selftest_touch(char *p, size_t pages)
{
	const size_t size = page_size();
	const long before = minor_faults();

	for (size_t i = 0; i < pages; i++)
		*(volatile char *)(p + i * size) = 1;
	touched = minor_faults() - before;
	STAY();
}

/* Not by sbrk(): what libc knows of its heap stays true, since all is put back. */
FN void selftest_grow_heap(void)
{
	for (int i = 1; i <= ST_BRK_CALLS; i++)
		syscall(SYS_brk, heap + (unsigned long)i * (ST_BRK_BYTES / ST_BRK_CALLS));
	STAY();
}

FN void selftest_shrink_heap(void)
{
	syscall(SYS_brk, heap);
	STAY();
}

static char *map(size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

FN void selftest_map(void)
{
	for (int i = 0; i < ST_MMAP_CALLS; i++)
		maps[i] = map(ST_MMAP_BYTES / ST_MMAP_CALLS);
	STAY();
}

FN void selftest_unmap(void)
{
	for (int i = 0; i < ST_MMAP_CALLS; i++)
		munmap(maps[i], ST_MMAP_BYTES / ST_MMAP_CALLS);
	STAY();
}

FN void selftest_keep(void)
{
	selftest_touch(area, ST_PAGES);
	selftest_grow_heap();
	selftest_map();
	STAY();
}

static int keep(void)
{
	selftest_keep();
	for (int i = 0; i < ST_MMAP_CALLS; i++)
		if (!maps[i])
			return -ENOMEM;
	return touched > ST_PAGES ? (int)touched : ST_PAGES;
}

static int give_back(void)
{
	selftest_shrink_heap();
	selftest_unmap();
	/* to be touched again */
	return madvise(area, ST_PAGES * page_size(), MADV_DONTNEED) ? -errno : 0;
}

/* Code, data and stack are there before anything counts: it is all done once. */
static int prepare(void)
{
	const size_t size = ST_PAGES * page_size();
	int err;

	heap = (unsigned long)syscall(SYS_brk, 0);
	area = map(size);
	if (!area)
		return -ENOMEM;
	madvise(area, size, MADV_NOHUGEPAGE);	/* a page is a page */
	err = keep();
	return err < 0 ? err : give_back();
}

int st_work_grow(int step)
{
	return step == ST_PREPARE ? prepare() : step == ST_KEEP ? keep() : give_back();
}
