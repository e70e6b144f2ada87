// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_leak_grow [old|THREADS]: after SIGUSR1, functions allocate blocks with known lifetimes side
 * by side.  Prints "ready" before.  "old": with a cache that is full by then.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FN	__attribute__((noinline, noclone))
#define STEP_NS	20000000L
#define OLD	40000		/* entries of the cache that is full before */
#define LIVES	150		/* steps of an entry of the other one */
#define EACH	10		/* steps from one block that stays to the next */

static void *old[OLD], *entries[LIVES], *list, *volatile used;
static char *buffer;

/* One stack: entries that live for a while, and now and then a block that stays. */
FN static void *grow_behind(void)
{
	return malloc(180);
}

FN static void *grow_old(void)
{
	return malloc(330);
}

FN static void grow_lost(void)
{
	used = malloc(104);
	used = NULL;
}

FN static void grow_buffer(size_t bytes)
{
	buffer = realloc(buffer, bytes);
}

FN static void grow_worker(void)
{
	for (int i = 0; i < 500; i++)
		used = malloc(1000);
}

/* Both by one call, as in a server whose cache and whose leak are made of the same entries. */
static void behind(unsigned long n)
{
	const int nr = n % EACH ? 1 : 2;

	for (volatile int i = 0; i < nr; i++) {
		void **entry = grow_behind();

		if (i) {
			*entry = list;
			list = entry;
		} else {
			free(entries[n % LIVES]);
			entries[n % LIVES] = entry;
		}
	}
}

static void step(unsigned long n, int with_old)
{
	behind(n);
	if (n % EACH == 5)
		grow_lost();
	grow_buffer((n + 2) * 16384);
	if (with_old) {
		free(old[n % OLD]);
		old[n % OLD] = grow_old();
	}
}

/* A worker that exits, with all that it has. */
static void work(void)
{
	const pid_t pid = fork();

	if (!pid) {
		grow_worker();
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void *grow_thread(void *arg)
{
	for (;;) {
		used = malloc(56);
		sleep(1);
	}
	return arg;
}

static void threads(int nr)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int i = 0; i < nr; i++)
		if (pthread_create(&t, &attr, grow_thread, NULL)) {
			perror("pthread_create");
			exit(1);
		}
}

int main(int argc, char **argv)
{
	const struct timespec pause = { 0, STEP_NS };
	const int with_old = argc > 1 && !strcmp(argv[1], "old");
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < OLD; i++)
		old[i] = grow_old();
	if (argc > 1 && !with_old)
		threads(atoi(argv[1]));
	puts("ready");
	fflush(stdout);
	sigwait(&set, &sig);
	for (unsigned long n = 0; argc < 2 || with_old; n++) {
		step(n, with_old);
		if (n % 50 == 49)
			work();
		nanosleep(&pause, NULL);
	}
	for (;;)
		sleep(1);
}
