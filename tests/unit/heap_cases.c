// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Heaps for test_heap_tool.sh, by name.  Each says "ready", and which process is meant.  All keep
 * KEPT blocks, and lose LOST of LOST_SIZE bytes each.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define KEPT		200
#define LOST		50
#define LOST_SIZE	1000
#define REGION		(64UL << 20)
#define OWN_SIZE	300000		/* of a block that has its own mapping */

static void *kept[2 * KEPT], *aligned;
static char *volatile of_thread;
static __thread void *volatile in_tls;

static __attribute__((noinline)) void lose(int nr, size_t size)
{
	for (int i = 0; i < nr; i++) {
		volatile char *p = malloc(size);

		p[0] = 1;
	}
}

static __attribute__((noinline)) void wipe(void)
{
	volatile char bytes[65536];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0;
}

static void keep(int from, int to)
{
	for (int i = from; i < to; i++)
		kept[i] = memset(malloc(LOST_SIZE), 0, LOST_SIZE);
}

static void ready(void)
{
	wipe();
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;)
		pause();
}

static void *use_arena(void *arg)
{
	(void)arg;
	of_thread = malloc(100);
	for (;;)
		pause();
	return NULL;
}

static void *use_tls(void *arg)
{
	(void)arg;
	in_tls = malloc(LOST_SIZE);
	return NULL;
}

static void *go_on(void *arg)
{
	(void)arg;
	sleep(1);
	ready();
	return NULL;
}

static pthread_t start(void *(*fn)(void *arg))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fn, NULL))
		exit(1);
	return thread;
}

/* The second arena's lists are written over. */
static void spoil(void)
{
	uintptr_t *words;

	start(use_arena);
	while (!of_thread)
		usleep(1000);
	words = (uintptr_t *)((uintptr_t)of_thread & ~(REGION - 1));
	words[46] = 0x4141414141414141;
}

/* A copy of libc with a malloc of its own. */
static void load_again(void)
{
	void *libc = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
	void *(*other)(size_t) = libc ? (void *(*)(size_t))dlsym(libc, "malloc") : NULL;

	for (int i = KEPT; other && i < 2 * KEPT; i++)
		kept[i] = other(LOST_SIZE);
}

static int run(const char *what)
{
	if (!strcmp(what, "fork")) {
		if (fork())
			for (;;)
				pause();
		keep(KEPT, 2 * KEPT);
	} else if (!strcmp(what, "protected")) {
		mprotect(aligned, 4096, PROT_NONE);
	} else if (!strcmp(what, "spoiled")) {
		spoil();
	} else if (!strcmp(what, "mapped")) {
		lose(5, OWN_SIZE);
		kept[KEPT] = mmap(NULL, 100 << 20, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(kept[KEPT], 7, 100 << 20);
	} else if (!strcmp(what, "sparse")) {
		mmap(NULL, 64UL << 30, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	} else if (!strcmp(what, "tls")) {
		for (int i = 0; i < 5; i++)
			pthread_join(start(use_tls), NULL);
	} else if (!strcmp(what, "main-ended")) {
		start(go_on);
		wipe();
		pthread_exit(NULL);
	} else if (!strcmp(what, "again")) {
		load_again();
	} else if (!strcmp(what, "broken")) {
		/* (its size, which stands before it) */
		((size_t *)kept[KEPT / 2])[-1] = 0x4141414141414141;
	} else if (!strcmp(what, "vfork")) {
		printf("ready %d\n", (int)getpid());
		fflush(stdout);
		if (!vfork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	} else if (strcmp(what, "plain")) {
		return 1;
	}
	ready();
	return 0;
}

int main(int argc, char **argv)
{
	keep(0, KEPT / 2);
	if (posix_memalign(&aligned, 4096, 65536))
		return 1;
	keep(KEPT / 2, KEPT);
	lose(LOST, LOST_SIZE);
	return argc == 2 ? run(argv[1]) : 2;
}
