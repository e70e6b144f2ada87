// SPDX-License-Identifier: GPL-2.0-or-later
/* CLANG: long */
/* LINK: ctl/leaks/copy.c ctl/leaks/copy_pages.c ctl/leaks/copy_counts.c */
/* LINK: ctl/leaks/copy_dirty.c ctl/base/ids.c ctl/base/limit.c */
/* LINK: ctl/leaks/reach_roots.c ctl/leaks/reach_glibc.c ctl/leaks/reach_heap.c */
/* LINK: ctl/leaks/reach.c ctl/base/addr_index.c */
/* LINK: ctl/leaks/reach_ranges.c ctl/leaks/reach_threads.c ctl/leaks/reach_memory.c */
/* LINK: ctl/leaks/reach_force.c ctl/leaks/reach_kernel.c ctl/leaks/reach_shared.c */
/* LINK: ctl/base/openreg.c ctl/target/ldcache.c ctl/target/maps.c ctl/target/procmaps.c */
/*
 * A child of ours changes its memory in all ways between the steps of a copy, and while they are
 * taken; then it is stopped, and each page of the copy must be what is there.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "leaks/copy.h"
#include "leaks/dirty.h"
#include "leaks/pages.h"
#include "tap.h"

#define PAGE		4096UL
#define LEN		(512 * PAGE)
#define LARGE		(4096 * PAGE)
#define ROUNDS		6
#define SHADOW		(64UL << 20)
#define SECOND		1000000000ULL

/* Shared with the child: what it is to do, and has done. */
static struct shared {
	volatile int step, done;
	char *base;			/* of an address space that it maps, and not */
	char *large, *common, *of_file;
	volatile unsigned long moves;
} *shared;

static unsigned int seed;

static unsigned int any(unsigned int n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % n;
}

static void *map_at(char *at, size_t len, int flags)
{
	return mmap(at, len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0) | flags, -1, 0);
}

static void scribble(char *at, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		memset(at + i * PAGE + any(64) * 64, (int)any(256), 64);
}

/* ---- the child ---- */

/* From one end to the other, so that whoever reads on has been where it goes, or not yet. */
static void *move(void *arg)
{
	char *low = shared->large, *high = shared->large + LARGE - PAGE;
	const unsigned long word = (unsigned long)shared;

	for (;;) {
		*(volatile unsigned long *)high = word;
		*(volatile unsigned long *)low = 0;
		shared->moves++;
		*(volatile unsigned long *)low = word;
		*(volatile unsigned long *)high = 0;
	}
	return arg;
}

static void change(void)
{
	static bool grown;
	char *part = shared->base + any(16) * 32 * PAGE;
	void *got = part;

	switch (any(10)) {
	case 0:
		got = map_at(part, 32 * PAGE, 0);
		scribble(part, 8);
		break;
	case 1:
		madvise(part, 16 * PAGE, MADV_DONTNEED);
		scribble(part + 8 * PAGE, 2);
		break;
	case 2:		/* (where it was is what it was before the next one comes) */
		got = mremap(part, 16 * PAGE, 16 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			     part + 16 * PAGE);
		if (got != MAP_FAILED)
			got = map_at(part, 16 * PAGE, 0);
		break;
	case 3:
		mprotect(part, 8 * PAGE, PROT_READ);
		mprotect(part, 8 * PAGE, PROT_READ | PROT_WRITE);
		scribble(part, 1);
		break;
	case 4:
		if (!grown && sbrk(16 * PAGE) != (void *)-1)
			scribble((char *)sbrk(0) - 16 * PAGE, 16);
		grown = true;
		break;
	case 5:
		scribble(shared->common, 4);
		break;
	case 6:
		scribble(shared->of_file, 4);
		break;
	default:
		scribble(part, 4);
	}
	if (got == MAP_FAILED)
		_exit(1);
}

static void be_copied(void)
{
	pthread_t t;

	alarm(300);
	if (pthread_create(&t, NULL, move, NULL))
		_exit(1);
	for (;;) {
		while (shared->done == shared->step)
			usleep(200);
		change();
		change();
		shared->done++;
	}
}

static pid_t start(void)
{
	FILE *file = tmpfile();
	pid_t child;

	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	shared->base = map_at(NULL, LEN, 0);
	shared->large = map_at(NULL, LARGE, 0);
	shared->common = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!file || ftruncate(fileno(file), 16 * PAGE))
		exit(1);
	shared->of_file = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file),
			       0);
	scribble(shared->base, LEN / PAGE / 2);
	for (size_t i = 0; i < LARGE; i += PAGE)
		shared->large[i + 8] = 1;
	scribble(shared->of_file, 2);
	child = fork();
	if (!child)
		be_copied();
	while (!shared->moves)
		usleep(1000);
	return child;
}

/* ---- what the copy should be ---- */

static __u64 states[4096], window;	/* of pages from there on; the process stands */

static bool is_there(int pagemap, __u64 addr)
{
	const __u64 page = addr / PAGE;
	ssize_t n;

	if (page - window >= 4096) {
		memset(states, 0, sizeof(states));
		n = pread(pagemap, states, sizeof(states), (off_t)(page * sizeof(states[0])));
		window = n > 0 ? page : ~0ULL;
	}
	return states[page - window] >> 62;
}

/* Pages that are not as they are in the process. */
static size_t wrong_pages(pid_t pid, struct copy *c)
{
	static unsigned char ours[PAGE], theirs[PAGE];
	struct pages *p = copy_pages(c);
	char path[32];
	size_t wrong = 0;
	int pagemap;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	pagemap = open(path, O_RDONLY);
	window = ~0ULL;
	for (size_t i = 0; i < p->nr; i++) {
		const struct area *a = &p->at[i].area;

		/* (ASan's shadow of what is compared) */
		if (a->end - a->start > SHADOW)
			continue;
		for (__u64 at = a->start; at < a->end; at += PAGE) {
			struct iovec to = { theirs, PAGE }, from = { (void *)at, PAGE };
			const bool there = pages_read(p, at, ours, PAGE) == PAGE;
			size_t len = 3 * PAGE;
			const void *lies = pages_at(p, at, &len);

			/* where it lies is the same, or nothing */
			wrong += there != (lies != NULL) || !len || len > 3 * PAGE ||
				 (lies && (len < PAGE || memcmp(lies, ours, PAGE)));
			if (!there && (a->shared || !is_there(pagemap, at)))
				continue;
			/* (the guard of a stack is a page that nobody can read) */
			if ((process_vm_readv(pid, &to, 1, &from, 1, 0) == PAGE) == there &&
			    (!there || !memcmp(ours, theirs, PAGE)))
				continue;
			wrong++;
			if (wrong < 5)
				printf("# %llx of %llx-%llx is %s\n", (unsigned long long)at,
				       (unsigned long long)a->start, (unsigned long long)a->end,
				       there ? "another" : "not there");
		}
	}
	close(pagemap);
	return wrong;
}

static bool moved_is_seen(struct copy *c)
{
	__u64 low = 0, high = 0;

	pages_read(copy_pages(c), (__u64)shared->large, &low, sizeof(low));
	pages_read(copy_pages(c), (__u64)shared->large + LARGE - PAGE, &high, sizeof(high));
	return low == (__u64)shared || high == (__u64)shared;
}

static void halt(pid_t pid)
{
	kill(pid, SIGSTOP);
	waitpid(pid, NULL, WUNTRACED);
}

static void order(void)
{
	shared->step++;
	while (shared->done != shared->step)
		usleep(200);
}

static size_t no_regs(void *ctx, pid_t tid, __u64 regs[MEMTAP_HELD_REGS])
{
	(void)ctx;
	(void)tid;
	(void)regs;
	return 0;
}

static const struct reach_regs regs = { .read = no_regs, .lives = true };

static void test_changes(pid_t pid, int rounds)
{
	size_t wrong = 0, unseen = 0, failed = 0, few = 0, stepped = 0;
	struct copy *c;

	for (int i = 0; i < rounds; i++) {
		if (copy_new(pid, 1ULL << 30, true, &c) ||
		    copy_running(c, clock_ns() + 60 * SECOND)) {
			failed++;
			copy_free(c);
			continue;
		}
		order();
		halt(pid);
		failed += copy_stopped(c, &regs, clock_ns() + 60 * SECOND) != 0;
		wrong += wrong_pages(pid, c);
		unseen += !moved_is_seen(c);
		if (!copy_told(c)->why) {
			stepped++;
			few += copy_told(c)->again < LARGE / 4;
		}
		/* it may be stopped again: what changed is still known */
		kill(pid, SIGCONT);
		order();
		halt(pid);
		failed += copy_stopped(c, &regs, clock_ns() + 60 * SECOND) != 0;
		wrong += wrong_pages(pid, c);
		unseen += !moved_is_seen(c);
		kill(pid, SIGCONT);
		copy_free(c);
	}
	is(failed, 0, "a process that changes can be copied");
	is(wrong, 0, "each page of the copy is as it was when it was stopped");
	is(unseen, 0, "what moves meanwhile is in one place or in the other");
	if (dirty_why_not(pid))
		printf("# all is read again: %s\n", dirty_why_not(pid));
	else
		ok(stepped == (size_t)rounds && few > (size_t)rounds / 2,
		   "mostly, what did not change is not read");
}

/* Somebody else clears the bits: what had changed seems not to have. */
static void test_other(pid_t pid)
{
	struct copy *c;
	char path[32];
	int fd;

	if (copy_new(pid, 1ULL << 30, true, &c) || copy_running(c, clock_ns() + 60 * SECOND)) {
		ok(false, "a copy");
		return;
	}
	halt(pid);
	snprintf(path, sizeof(path), "/proc/%d/clear_refs", pid);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, "4", 1) < 0)
		printf("# soft-dirty bits cannot be cleared here\n");
	close(fd);
	ok(!copy_stopped(c, &regs, clock_ns() + 60 * SECOND) && copy_told(c)->why,
	   "that somebody else clears the bits is found out");
	is(wrong_pages(pid, c), 0, "and each page is right");
	kill(pid, SIGCONT);
	if (!dirty_why_not(pid)) {
		struct copy *other;

		copy_free(c);
		copy_new(pid, 1ULL << 30, true, &c);
		copy_running(c, clock_ns() + 60 * SECOND);
		copy_new(pid, 1ULL << 30, true, &other);
		ok(!copy_running(other, clock_ns() + 60 * SECOND) && copy_told(other)->why,
		   "and another one of us does not");
		copy_free(other);
	}
	copy_free(c);
}

static void test_bounds(pid_t pid)
{
	struct copy *c;

	copy_new(pid, LARGE / 2, true, &c);
	is(copy_running(c, clock_ns() + 60 * SECOND), -ENOBUFS, "no more is kept than was allowed");
	ok(copy_pages(c)->bytes < LARGE, "or not much more");
	copy_free(c);
	copy_new(pid, 1ULL << 30, true, &c);
	is(copy_running(c, clock_ns()), -ETIMEDOUT, "nor after the time is over");
	copy_free(c);
	copy_new(pid, 1ULL << 30, true, &c);
	copy_running(c, clock_ns() + 60 * SECOND);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	is(copy_stopped(c, &regs, clock_ns() + 60 * SECOND), -ESRCH, "of one that ended nothing");
	copy_free(c);
	copy_new(pid, 1ULL << 30, true, &c);
	is(copy_running(c, clock_ns() + 60 * SECOND), -ESRCH, "nor of one that was never there");
	copy_free(c);
}

int main(int argc, char **argv)
{
	pid_t child;

	seed = argc > 1 ? (unsigned int)atoi(argv[1]) : (unsigned int)clock_ns();
	printf("# seed %u\n", seed);
	child = start();
	test_changes(child, argc > 2 ? atoi(argv[2]) : ROUNDS);
	test_other(child);
	test_bounds(child);
	return tap_done();
}
