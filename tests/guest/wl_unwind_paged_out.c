// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_unwind_paged_out FILE ROUNDS: a thread whose stack lies in FILE, and whose outer
 * frames are not mapped at the moment of the event: taken out of its page tables, as
 * what was swapped out is.  The event is wl_stop(), a place for a user probe, where
 * memtap may bring them in; and a page fault, where it may not.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FN	__attribute__((noipa, used))
#define STACK	(512UL << 10)
#define GAP	(192UL << 10)	/* more than the kernel maps around a fault */
#define PAGE	4096UL

static char *stack, *fresh, *outer;
static long rounds;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

FN void wl_stop(long i)
{
	__asm__ volatile("" : : "r" (i) : "memory");
}

FN void wl_touch(volatile char *p)
{
	*p = 1;
}

/*
 * From the page above the one that we are on up to the gap.  What the thread's
 * descriptor lies in is beyond it: the kernel writes there whenever it switches.
 */
FN void wl_take_away(const char *here)
{
	const unsigned long next = ((unsigned long)here + PAGE) & ~(PAGE - 1);

	const unsigned long end = (unsigned long)outer & ~(PAGE - 1);

	if (madvise((void *)next, end - next, MADV_DONTNEED))
		die("madvise");
}

/* The frames are large: each has pages of its own. */
FN long wl_deep(long left)
{
	volatile char room[6000];

	room[0] = (char)left;
	if (left)
		return wl_deep(left - 1) + room[0];
	for (long i = 0; i < rounds; i++) {
		wl_take_away(__builtin_frame_address(0));
		wl_stop(i);
		wl_take_away(__builtin_frame_address(0));
		wl_touch(fresh + i * (long)PAGE);
	}
	return room[0];
}

static void *run(void *arg)
{
	volatile char gap[GAP];

	gap[0] = 0;
	outer = (char *)gap;
	wl_deep(3);
	return gap[0] ? NULL : arg;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t thread;
	int fd;

	rounds = argc == 3 ? atol(argv[2]) : 0;
	fd = rounds > 0 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	if (fd < 0 || ftruncate(fd, STACK))
		die("usage: wl_unwind_paged_out FILE ROUNDS");
	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	fresh = mmap(NULL, (size_t)rounds * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED || fresh == MAP_FAILED ||
	    madvise(fresh, (size_t)rounds * PAGE, MADV_NOHUGEPAGE))
		die("mmap");
	memset(stack, 0, STACK);
	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, stack, STACK) ||
	    pthread_create(&thread, &attr, run, NULL) || pthread_join(thread, NULL))
		die("pthread_create");
	return 0;
}
