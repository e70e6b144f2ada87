// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_rss FILE [now] [fork|much|parts]: touches pages in functions of its own, lets some of them
 * go in all the ways there are, and says of each function how many pages it has that are there
 * now, as its own pagemap says: "FUNCTION KIND PAGES".  Begins at SIGUSR1, or "now"; then it says
 * "ready", and ends at SIGUSR2.  With "much" it has 192 MiB, and says nothing of them; with
 * "parts" arenas, large blocks and stacks, so many as the test knows.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FN	__attribute__((noipa, used))
#define PAGE	4096UL
#define HUGE	512UL		/* pages */
#define NEAR	64UL		/* more than a fault maps around */

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23
#endif
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif

/* Who touched the pages of a region last. */
struct region {
	char *at;
	unsigned long pages;
	const char *kind;		/* of a page that is there and has a file */
	const char *who[3 * HUGE];
};

static struct region regions[32] __attribute__((aligned(4096)));
static size_t nr_regions;
static volatile char sink;

static void die(const char *what)
{
	fprintf(stderr, "wl_rss: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct region *region(unsigned long pages, int flags, int fd, unsigned long align)
{
	struct region *r = &regions[nr_regions++];
	char *at = mmap(NULL, (pages + align) * PAGE, PROT_READ | PROT_WRITE,
			(fd < 0 ? MAP_ANONYMOUS : 0) | flags, fd, 0);

	if (at == MAP_FAILED)
		die("mmap");
	if (align)
		at = (char *)(((unsigned long)at + align * PAGE - 1) & ~(align * PAGE - 1));
	r->at = at;
	r->pages = pages;
	r->kind = fd >= 0 ? "file" : flags & MAP_SHARED ? "shared-memory" : "anonymous";
	/* nothing huge comes by itself */
	if (!align)
		madvise(at, pages * PAGE, MADV_NOHUGEPAGE);
	return r;
}

/* Each function touches by itself: it is where the fault is; and nothing else. */
#define TOUCH(_name)							\
static FN void _name(volatile char *at, unsigned long first, unsigned long nr,	\
		     unsigned long step)				\
{									\
	for (unsigned long i = first; i < first + nr; i += step)	\
		at[i * PAGE] = 1;					\
}									\
static FN void do_##_name(struct region *r, unsigned long first, unsigned long nr, \
			  unsigned long step)				\
{									\
	_name(r->at, first, nr, step);					\
	note_who(r, first, nr, step, #_name);				\
}

static void note_who(struct region *r, unsigned long first, unsigned long nr,
		     unsigned long step, const char *who)
{
	for (unsigned long i = first; i < first + nr; i += step)
		r->who[i] = who;
}

TOUCH(rss_all)
TOUCH(rss_unmap)
TOUCH(rss_dontneed)
TOUCH(rss_again)
TOUCH(rss_trim)
TOUCH(rss_copied)
TOUCH(rss_shmem)
TOUCH(rss_written)
TOUCH(rss_huge)
TOUCH(rss_in_huge)
TOUCH(rss_moved)
TOUCH(rss_swap)
TOUCH(rss_collapse)
TOUCH(rss_fork)
TOUCH(rss_child)
TOUCH(rss_parent)

#define PEEK(_name)							\
static FN char _name(volatile char *at, unsigned long nr)		\
{									\
	char all = 0;							\
									\
	for (unsigned long i = 0; i < nr; i++)				\
		all |= at[i * PAGE];					\
	return all;							\
}									\
static FN void do_##_name(struct region *r)				\
{									\
	sink = _name(r->at, r->pages);					\
	note_who(r, 0, r->pages, 1, #_name);				\
}

PEEK(rss_file)
PEEK(rss_zeros)

static void drop(struct region *r, unsigned long first, unsigned long nr, unsigned long step)
{
	for (unsigned long i = first; i < first + nr; i += step)
		if (madvise(r->at + i * PAGE, PAGE, MADV_DONTNEED))
			die("MADV_DONTNEED");
}

static void files(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	static char page[PAGE];
	struct region *r;

	for (unsigned int i = 0; i < 2 * NEAR; i++)
		if (write(fd, page, PAGE) != (ssize_t)PAGE)
			die(path);
	r = region(2 * NEAR, MAP_PRIVATE, fd, 0);
	do_rss_file(r);
	do_rss_copied(r, 10, 16, 1);
	r = region(2 * NEAR, MAP_SHARED, fd, 0);
	do_rss_file(r);
	close(fd);
	r = region(80, MAP_SHARED, -1, 0);
	do_rss_shmem(r, 0, 80, 1);
}

static void huge(void)
{
	struct region *r = region(2 * HUGE, MAP_PRIVATE, -1, HUGE);

	if (madvise(r->at, 2 * HUGE * PAGE, MADV_HUGEPAGE))
		return;
	do_rss_huge(r, 0, 2 * HUGE, 1);
	drop(r, 100, 50, 1);
	do_rss_in_huge(r, 120, 10, 1);
	r = region(HUGE, MAP_PRIVATE, -1, HUGE);
	madvise(r->at, HUGE * PAGE, MADV_NOHUGEPAGE);
	do_rss_collapse(r, 0, HUGE, 1);
	madvise(r->at, HUGE * PAGE, MADV_HUGEPAGE);
	/* a kernel that cannot leaves them as they are */
	madvise(r->at, HUGE * PAGE, MADV_COLLAPSE);
}

static void heap(void)
{
	struct region *r = &regions[nr_regions++];

	/* one that ends with a page */
	sbrk((long)(PAGE - (unsigned long)sbrk(0) % PAGE) % (long)PAGE);
	r->at = sbrk(128 * PAGE);
	r->pages = 64;
	r->kind = "anonymous";
	do_rss_trim(r, 0, 128, 1);
	if (sbrk(-64 * (long)PAGE) == (void *)-1)
		die("sbrk");
}

static void moved(void)
{
	struct region *r = region(100, MAP_PRIVATE, -1, 0);
	char *to;

	do_rss_moved(r, 0, 100, 1);
	/* where nothing has the same place in a group of pages */
	to = mmap(NULL, 200 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	to = mremap(r->at, 100 * PAGE, 100 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to + 37 * PAGE);
	if (to == MAP_FAILED)
		die("mremap");
	r->at = to;
}

static void swapped(void)
{
	struct region *r = region(64, MAP_PRIVATE, -1, 0);

	do_rss_swap(r, 0, 64, 1);
	madvise(r->at, 64 * PAGE, MADV_PAGEOUT);
}

static void read_into(struct region *r)
{
	static char zeros[PAGE];
	struct iovec from = { zeros, PAGE }, to = { NULL, PAGE };

	for (unsigned long i = 0; i < r->pages; i++) {
		to.iov_base = r->at + i * PAGE;
		if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) != (ssize_t)PAGE)
			die("process_vm_writev");
	}
}

/* Each is a call by itself; its pages are those that were not there. */
static FN void rss_populated(struct region *r)
{
	munmap(r->at, r->pages * PAGE);
	if (mmap(r->at, r->pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
		 MAP_FIXED | MAP_POPULATE, -1, 0) != r->at)
		die("MAP_POPULATE");
	sink = 0;
}

static FN int rss_locked(struct region *r)
{
	const int err = mlock(r->at, r->pages * PAGE);

	sink = 0;
	return err;
}

static FN int rss_advised(struct region *r)
{
	const int err = madvise(r->at, r->pages * PAGE, MADV_POPULATE_WRITE);

	sink = 0;
	return err;
}

static void populated(void)
{
	struct region *r = region(1500, MAP_PRIVATE, -1, 0);

	/* where others had pages before */
	do_rss_unmap(r, 0, 100, 1);
	rss_populated(r);
	note_who(r, 0, r->pages, 1, "rss_populated");
	r = region(200, MAP_PRIVATE, -1, 0);
	do_rss_all(r, 50, 30, 1);
	if (!rss_locked(r)) {
		note_who(r, 0, r->pages, 1, "rss_locked");
		note_who(r, 50, 30, 1, "rss_all");
	}
	r = region(100, MAP_PRIVATE, -1, 0);
	if (!rss_advised(r))
		note_who(r, 0, r->pages, 1, "rss_advised");
}

static void all(const char *path)
{
	struct region *r = region(300, MAP_PRIVATE, -1, 0);

	do_rss_all(r, 0, 300, 1);
	/* as others write to it: nobody tells of that */
	r = region(40, MAP_PRIVATE, -1, 0);
	read_into(r);
	for (unsigned long i = 0; i < 40; i++)
		r->who[i] = "[came without a fault]";
	populated();
	r = region(200, MAP_PRIVATE, -1, 0);
	do_rss_unmap(r, 0, 200, 1);
	munmap(r->at + 100 * PAGE, 100 * PAGE);
	r->pages = 100;
	r = region(200, MAP_PRIVATE, -1, 0);
	do_rss_dontneed(r, 0, 200, 1);
	drop(r, 0, 200, 2);
	do_rss_again(r, 0, 40, 2);
	r = region(50, MAP_PRIVATE, -1, 0);
	do_rss_zeros(r);
	do_rss_written(r, 20, 10, 1);
	files(path);
	huge();
	heap();
	moved();
	swapped();
}

/* ---- what is there ---- */

static int pagemap_fd;

static const char *kind(const struct region *r, unsigned long i)
{
	unsigned long long e;

	if (pread(pagemap_fd, &e, 8, (off_t)((unsigned long)r->at / PAGE + i) * 8) != 8)
		die("pagemap");
	if (e >> 62 & 1)
		return "swapped";
	if (!(e >> 63))
		return NULL;
	return e >> 61 & 1 || !strcmp(r->kind, "shared-memory") ? r->kind : "anonymous";
}

static void say(pid_t pid)
{
	static const char *const kinds[] = { "anonymous", "file", "shared-memory", "swapped" };

	pagemap_fd = open("/proc/self/pagemap", O_RDONLY);
	for (size_t n = 0; n < nr_regions; n++) {
		const struct region *r = &regions[n];
		const char *is, *who = NULL;
		unsigned long nr[4], left;

		do {	/* each who that was not said yet; a page that is said is nobody's */
			who = NULL;
			left = 0;
			memset(nr, 0, sizeof(nr));
			for (unsigned long i = 0; i < r->pages; i++) {
				if (!r->who[i] || (who && strcmp(who, r->who[i])))
					continue;
				who = r->who[i];
				regions[n].who[i] = NULL;
				is = kind(r, i);
				/* the page of zeros is nobody's */
				for (int k = 0; is && strcmp(who, "rss_zeros") && k < 4; k++)
					nr[k] += !strcmp(is, kinds[k]);
				left++;
			}
			for (int k = 0; k < 4; k++)
				if (nr[k])
					printf("%d %s %s %lu\n", pid, who, kinds[k], nr[k]);
		} while (left);
	}
	close(pagemap_fd);
}

/* It writes to some of what it got; then the parent does. */
static pid_t forks(void)
{
	struct region *r = region(100, MAP_PRIVATE, -1, 0);
	int said[2], sig;
	sigset_t set;
	pid_t pid;
	char c;

	do_rss_fork(r, 0, 100, 1);
	if (pipe(said))
		die("pipe");
	fflush(stdout);
	pid = fork();
	if (pid) {
		close(said[1]);
		if (read(said[0], &c, 1) != 1)
			die("the child");
		do_rss_parent(r, 0, 40, 1);
		/* the pages are still whose they were: nothing grew */
		for (unsigned long i = 0; i < 40; i++)
			r->who[i] = "rss_fork";
		return pid;
	}
	do_rss_child(r, 0, 30, 1);
	say(getpid());
	fflush(stdout);
	if (write(said[1], "", 1) != 1)
		_exit(1);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigwait(&set, &sig);
	_exit(0);
}

static void much(void)
{
	const unsigned long pages = 192UL << 8;
	char *at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	if (at == MAP_FAILED)
		die("mmap");
	madvise(at, pages * PAGE, MADV_NOHUGEPAGE);
	rss_all(at, 0, pages, 1);
}

static FN void *in_arena(void *barrier)
{
	char *at[64];

	/* of each thread: an arena, and in it 4 MiB, of which 3 are free again and stay there */
	for (int i = 0; i < 64; i++) {
		at[i] = malloc(65536);
		if (!at[i])
			die("malloc");
		memset(at[i], 1, 65536);
	}
	for (int i = 0; i < 48; i++)
		free(at[i]);
	pthread_barrier_wait(barrier);
	pause();
	return NULL;
}

static void parts(void)
{
	static pthread_barrier_t barrier;
	pthread_t threads[3];

	pthread_barrier_init(&barrier, NULL, 4);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, in_arena, &barrier))
			die("pthread_create");
	for (int i = 0; i < 2; i++) {
		char *at = malloc(3 << 20);

		if (!at)
			die("malloc");
		memset(at, 1, 3 << 20);
	}
	for (int i = 0; i < 32; i++) {
		char *at = malloc(65536);

		if (!at)
			die("malloc");
		memset(at, 1, 65536);
	}
	pthread_barrier_wait(&barrier);
}

int main(int argc, char **argv)
{
	bool now = false, fork_too = false, much_too = false, parts_too = false;
	pid_t pid = 0;
	sigset_t set;
	int sig;

	for (int i = 2; i < argc; i++) {
		now |= !strcmp(argv[i], "now");
		fork_too |= !strcmp(argv[i], "fork");
		much_too |= !strcmp(argv[i], "much");
		parts_too |= !strcmp(argv[i], "parts");
	}
	if (argc < 2)
		return 2;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* what the functions write down is no page of theirs */
	for (size_t i = 0; i < sizeof(regions); i += PAGE)
		((volatile char *)regions)[i] = 0;
	if (!now)
		sigwait(&set, &sig);
	if (fork_too)
		pid = forks();
	else if (much_too)
		much();
	else if (parts_too)
		parts();
	else
		all(argv[1]);
	say(getpid());
	puts("ready");
	do {
		sigwait(&set, &sig);
	} while (sig != SIGUSR2);
	if (pid) {
		kill(pid, SIGUSR2);
		waitpid(pid, NULL, 0);
	}
	return 0;
}
