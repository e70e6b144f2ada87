// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_oom WHAT: takes memory until somebody is killed for it.
 *
 *	eat MIB [ADJ]		1 MiB at a time, each page touched in wl_oom_touch(), which
 *				wl_oom_eat() calls; up to MIB, then sleeps
 *	hold MIB [ADJ]		MIB at once, says "ready", and sleeps
 *	herd N MIB [ADJ]	N processes that hold MIB each and share nothing
 *	share MIB [ADJ]		as eat, and another process has the same memory
 *	shm MIB			a file without a name, MIB of it, says "ready", and sleeps
 *	tables MIB [ADJ]	page tables: a page each 2 MiB is read, and no memory touched
 *	pipes MIB [ADJ]		pipes that nobody reads
 *	sockets MIB [ADJ]	messages in UNIX sockets that nobody reads
 *	lock MIB [ADJ]		as hold, in memory that is locked
 *	bind NODE MIB		as eat, on that node
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB	(1UL << 20)
#define PAGE	4096UL

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void adjust(const char *to)
{
	FILE *f = fopen("/proc/self/oom_score_adj", "w");

	if (!f || fputs(to, f) < 0 || fclose(f))
		die("oom_score_adj");
}

static char *take(size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	madvise(p, size, MADV_NOHUGEPAGE);
	return p;
}

__attribute__((noipa)) void wl_oom_touch(volatile char *p, size_t size)
{
	for (size_t i = 0; i < size; i += PAGE)
		p[i] = 1;
	__asm__ volatile("" ::: "memory");
}

__attribute__((noipa)) void wl_oom_eat(size_t mib)
{
	for (size_t i = 0; i < mib; i++) {
		char *p = take(MIB);

		wl_oom_touch(p, MIB);
		__asm__ volatile("" ::: "memory");
	}
	__asm__ volatile("" ::: "memory");
}

static void rest(void)
{
	puts("ready");
	fflush(stdout);
	sleep(120);
}

static void hold(size_t mib)
{
	char *p = take(mib * MIB);

	wl_oom_touch(p, mib * MIB);
	rest();
}

static void herd(int nr, size_t mib)
{
	for (int i = 0; i < nr; i++)
		if (!fork()) {
			wl_oom_touch(take(mib * MIB), mib * MIB);
			sleep(120);
			_exit(0);
		}
	rest();
}

static int other(void *arg)
{
	(void)arg;
	sleep(120);
	return 0;
}

__attribute__((noipa)) static void share(size_t mib)
{
	static char stack[65536] __attribute__((aligned(16)));

	if (clone(other, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL) < 0)
		die("clone");
	wl_oom_eat(mib);
	rest();
}

static void shm(size_t mib)
{
	int fd = memfd_create("wl_oom", 0);
	char *p;

	if (fd < 0 || ftruncate(fd, (off_t)(mib * MIB)))
		die("memfd");
	p = mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		die("mmap");
	wl_oom_touch(p, mib * MIB);
	rest();
}

/* A table of 4 KiB for each: the page of zeros costs nothing. */
__attribute__((noipa)) static void tables(size_t mib)
{
	const size_t nr = mib * MIB / PAGE, step = 2 * MIB;
	volatile char *p = mmap(NULL, nr * step, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS |
				MAP_NORESERVE, -1, 0);
	char sum = 0;

	if (p == MAP_FAILED)
		die("mmap");
	madvise((void *)p, nr * step, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < nr; i++)
		sum = (char)(sum + p[i * step]);
	__asm__ volatile("" : : "r"(sum));
	rest();
}

static void many_files(void)
{
	const struct rlimit most = { 100000, 100000 };

	if (setrlimit(RLIMIT_NOFILE, &most))
		die("setrlimit");
}

__attribute__((noipa)) static void pipes(size_t mib)
{
	static char buf[65536];
	int fd[2];

	many_files();
	for (size_t i = 0; i < mib * MIB / sizeof(buf); i++) {
		if (pipe2(fd, O_NONBLOCK))
			die("pipe");
		if (write(fd[1], buf, sizeof(buf)) < 0)
			die("write");
	}
	rest();
}

__attribute__((noipa)) static void sockets(size_t mib)
{
	static char buf[4096];
	int fd[2];

	many_files();
	for (size_t i = 0; i < mib * MIB / (8 * sizeof(buf)); i++) {
		if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fd))
			die("socketpair");
		for (int k = 0; k < 8; k++)
			send(fd[0], buf, sizeof(buf), MSG_DONTWAIT);
	}
	rest();
}

static void lock(size_t mib)
{
	if (mlockall(MCL_FUTURE))
		die("mlockall");
	hold(mib);
}

static void bind_to(size_t node, size_t mib)
{
	const unsigned long mask = 1UL << node;

	if (syscall(SYS_set_mempolicy, 2 /* MPOL_BIND */, &mask, 8 * sizeof(mask)))
		die("set_mempolicy");
	wl_oom_eat(mib);
	rest();
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	const size_t n = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	const int adj = strcmp(what, "herd") && strcmp(what, "bind") ? 3 : 4;

	if (argc > adj)
		adjust(argv[adj]);
	if (!strcmp(what, "eat"))
		wl_oom_eat(n), rest();
	else if (!strcmp(what, "hold"))
		hold(n);
	else if (!strcmp(what, "herd") && argc > 3)
		herd((int)n, strtoul(argv[3], NULL, 0));
	else if (!strcmp(what, "share"))
		share(n);
	else if (!strcmp(what, "shm"))
		shm(n);
	else if (!strcmp(what, "tables"))
		tables(n);
	else if (!strcmp(what, "pipes"))
		pipes(n);
	else if (!strcmp(what, "sockets"))
		sockets(n);
	else if (!strcmp(what, "lock"))
		lock(n);
	else if (!strcmp(what, "bind") && argc > 3)
		bind_to(n, strtoul(argv[3], NULL, 0));
	else
		return 2;
	return 0;
}
