// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_numa move|follow MIB: memory on node 0; says "ready".  At SIGUSR1 it asks for it to go to
 * node 1, by migrate_pages(), or goes there itself, to its processor, and uses it until three
 * quarters have followed.  Where it is then it says as "node0 PAGES node1 PAGES".
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MIB	(1UL << 20)
#define PAGE	4096UL

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void on_usr1(int sig)
{
	(void)sig;
}

/* The first processor is of the first node, the last one of the other. */
static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static void touch(volatile char *p, size_t size)
{
	for (size_t i = 0; i < size; i += PAGE)
		p[i]++;
}

/* Pages on each node, as the kernel says it of each address. */
static void count(char *p, size_t size, size_t on[2])
{
	static void *pages[1024];
	static int status[1024];

	on[0] = on[1] = 0;
	for (size_t at = 0; at < size;) {
		unsigned long nr = 0;

		for (; nr < 1024 && at < size; at += PAGE)
			pages[nr++] = p + at;
		if (syscall(SYS_move_pages, 0, nr, pages, NULL, status, 0))
			die("move_pages");
		for (unsigned long i = 0; i < nr; i++)
			if (status[i] == 0 || status[i] == 1)
				on[status[i]]++;
	}
}

static void wait_usr1(void)
{
	sigset_t usr1, before;

	signal(SIGUSR1, on_usr1);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, &before);
	puts("ready");
	fflush(stdout);
	sigsuspend(&before);
}

static void move(void)
{
	const unsigned long from = 1, to = 2;

	wait_usr1();
	if (syscall(SYS_migrate_pages, 0, 8 * sizeof(from), &from, &to) < 0)
		die("migrate_pages");
}

static void follow(char *p, size_t size)
{
	size_t on[2] = { 0, 0 };

	wait_usr1();
	run_on((int)sysconf(_SC_NPROCESSORS_ONLN) - 1);
	alarm(600);	/* a machine that emulates this one may be slow */
	while (on[1] < size / PAGE / 4 * 3) {
		for (int i = 0; i < 50; i++)
			touch(p, size);
		count(p, size, on);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	const size_t size = argc > 2 ? strtoul(argv[2], NULL, 10) * MIB : 0;
	size_t on[2];
	char *p;

	if (!size)
		return 2;
	run_on(0);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		die("mmap");
	madvise(p, size, MADV_NOHUGEPAGE);
	touch(p, size);
	if (!strcmp(what, "move"))
		move();
	else if (!strcmp(what, "follow"))
		follow(p, size);
	else
		return 2;
	count(p, size, on);
	printf("node0 %zu node1 %zu\n", on[0], on[1]);
	return 0;
}
