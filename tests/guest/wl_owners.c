// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_owners: maps memory of all sorts, shares some with a child, and says of each region what
 * smaps must have of it, in KiB: "WHO NAME ADDRESS SUM=KIB ...", then "ready PID CHILD".  Ends when
 * its input does.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIB	1024UL
#define PAGE	4096UL
#define HUGE	(2048 * KIB)
#define SWAPPED	(1ULL << 62)

#ifndef MADV_FREE
#define MADV_FREE	8
#endif
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif

static void die(const char *what)
{
	fprintf(stderr, "wl_owners: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A mapping that no other one touches, so that it stays one; nothing huge comes by itself. */
static char *region(size_t len, int flags, size_t align)
{
	char *all = mmap(NULL, len + align + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0), *at;

	if (all == MAP_FAILED)
		die("mmap");
	at = (char *)(((uintptr_t)all + PAGE + align - 1) & ~(align - 1));
	at = mmap(at, len, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	if (!(flags & MAP_HUGETLB))
		madvise(at, len, MADV_NOHUGEPAGE);
	return at;
}

static void touch(volatile char *at, size_t len)
{
	for (size_t i = 0; i < len; i += PAGE)
		at[i] = 1;
}

static void __attribute__((format(printf, 3, 4))) say(const char *name, const char *at,
						       const char *sums, ...)
{
	va_list ap;

	printf("%s %p ", name, at);
	va_start(ap, sums);
	vprintf(sums, ap);
	va_end(ap);
	putchar('\n');
}

static size_t swapped(const char *at, size_t len)
{
	const int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry;
	size_t nr = 0;

	for (size_t i = 0; fd >= 0 && i < len; i += PAGE)
		if (pread(fd, &entry, sizeof(entry), (off_t)(((uintptr_t)at + i) / PAGE * 8)) ==
		    sizeof(entry))
			nr += !!(entry & SWAPPED);
	if (fd >= 0)
		close(fd);
	return nr * PAGE / KIB;
}

/* What a process has alone. */
static void own(void)
{
	char *at = region(1024 * KIB, MAP_PRIVATE, PAGE);

	touch(at, 1024 * KIB);
	say("parent after", at, "rss=1024 pss=1024 uss=1024 dirty=1024 anon=1024 locked=0");
	at = region(512 * KIB, MAP_PRIVATE, PAGE);
	touch(at, 512 * KIB);
	if (mlock(at, 512 * KIB))
		die("mlock");
	say("parent locked", at, "rss=512 pss=512 locked=512");
	at = region(256 * KIB, MAP_PRIVATE, PAGE);
	touch(at, 256 * KIB);
	if (!madvise(at, 256 * KIB, MADV_FREE))
		say("parent lazy", at, "rss=256 lazy_free=256");
	at = region(HUGE, MAP_PRIVATE | MAP_HUGETLB, HUGE);
	if (at) {
		touch(at, HUGE);
		say("parent pool", at, "rss=0 pss=0 hugetlb=2048");
	}
	at = region(2 * HUGE, MAP_PRIVATE, HUGE);
	if (!madvise(at, 2 * HUGE, MADV_HUGEPAGE)) {
		touch(at, 2 * HUGE);
		say("parent huge", at, "rss=4096 pss=4096 huge=4096");
	}
	at = region(1024 * KIB, MAP_PRIVATE, PAGE);
	touch(at, 1024 * KIB);
	if (!madvise(at, 1024 * KIB, MADV_PAGEOUT) && swapped(at, 1024 * KIB))
		say("parent swapped", at, "swap=%zu swap_pss=%zu", swapped(at, 1024 * KIB),
		    swapped(at, 1024 * KIB));
}

int main(void)
{
	char *ours = region(4096 * KIB, MAP_PRIVATE, PAGE);
	char *copied = region(512 * KIB, MAP_PRIVATE, PAGE);
	char *shared = region(2048 * KIB, MAP_SHARED, PAGE);
	char *both[] = { "parent", "child" }, name[32];
	int done[2];
	pid_t child;
	char c;

	touch(ours, 4096 * KIB);
	touch(copied, 512 * KIB);
	touch(shared, 2048 * KIB);
	if (pipe(done))
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		prctl(PR_SET_NAME, "wl_owners_child");
		touch(copied, 512 * KIB);
		touch(shared, 2048 * KIB);
		if (write(done[1], "x", 1) != 1)
			die("write");
		while (read(0, &c, 1) > 0)
			;
		return 0;
	}
	if (read(done[0], &c, 1) != 1)
		die("read");
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s ours", both[i]);
		say(name, ours, "rss=4096 pss=2048 uss=0 anon=4096");
		snprintf(name, sizeof(name), "%s copied", both[i]);
		say(name, copied, "rss=512 pss=512 uss=512");
		snprintf(name, sizeof(name), "%s shared", both[i]);
		say(name, shared, "rss=2048 pss=1024 uss=0 size=2048");
	}
	own();
	printf("ready %d %d\n", getpid(), child);
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	waitpid(child, NULL, 0);
	return 0;
}
