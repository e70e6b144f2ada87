// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_leak_died CASE: a program that ends by a signal.  A stack refers to forty blocks of 100
 * bytes, of take_forty(); nothing refers to twenty blocks of 50, of drop_twenty().  Compiled
 * without optimization, so that the stack's contents are known.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define FN	__attribute__((noinline, noclone))
#define NR	40

static volatile int ready;
static volatile int *volatile nowhere;
static sigjmp_buf back;

FN static void take_forty(void *volatile *to)
{
	int i;

	for (i = 0; i < NR; i++)
		to[i] = malloc(100);
}

FN static void drop_twenty(void)
{
	int i;

	for (i = 0; i < NR / 2; i++)
		*(volatile char *)malloc(50) = 1;
}

/* What the calls left on the stack. */
FN static void wipe(void)
{
	volatile char room[16384];
	size_t i;

	for (i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

static void *sleep_with(void *arg)
{
	void *volatile mine[NR];

	(void)arg;
	take_forty(mine);
	ready = 1;
	for (;;)
		pause();
	return mine[0];
}

static void *run_with(void *arg)
{
	void *volatile mine[NR];

	(void)arg;
	take_forty(mine);
	ready = 1;
	for (;;)
		;
	return mine[0];
}

static void start(void *(*fn)(void *))
{
	pthread_t id;

	if (pthread_create(&id, NULL, fn, NULL))
		exit(3);
	while (!ready)
		usleep(1000);
}

static void alarm_soon(void)
{
	const struct itimerval soon = { .it_value.tv_usec = 200000 };

	setitimer(ITIMER_REAL, &soon, NULL);
}

static void jump(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static int die(const char *how)
{
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "fault"))
		*nowhere = 1;
	if (!strcmp(how, "trap"))
		__builtin_trap();
	if (!strcmp(how, "itself"))
		kill(getpid(), SIGTERM);
	if (!strcmp(how, "killed"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "waits"))
		alarm_soon();
	if (!strcmp(how, "runs")) {
		alarm_soon();
		for (;;)
			;
	}
	for (;;)
		pause();
}

/* A way of dying, by whichever thread has the blocks. */
static int with_threads(const char *how)
{
	if (!strcmp(how, "sleeping-thread")) {
		start(sleep_with);
		return die("itself");
	}
	if (!strcmp(how, "running-thread")) {
		start(run_with);
		return die("waits");
	}
	if (!strcmp(how, "thread-aborts")) {
		start(sleep_with);
		return die("abort");
	}
	return 2;
}

int main(int argc, char **argv)
{
	void *volatile mine[NR];
	const char *how = argc == 2 ? argv[1] : "";

	drop_twenty();
	wipe();
	if (strstr(how, "thread"))
		return with_threads(how);
	take_forty(mine);
	wipe();
	if (!strcmp(how, "saved")) {
		signal(SIGABRT, jump);
		if (!sigsetjmp(back, 1))
			abort();
		memset((void *)mine, 0, sizeof(mine));
		exit(0);
	}
	return die(how);
}
