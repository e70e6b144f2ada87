// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_leak_live [THREADS]: goes on running, and has its blocks in known places, with THREADS
 * also in vectors (which nobody asks for at a program's end).  "ready";
 * with SIGUSR1 it takes them, and says "taken"; with SIGUSR2 it looks whether all is as it
 * was, says what it found, and ends; with SIGHUP, before that, it frees what take_data() took
 * and takes as much anew, makes what take_by_old() took larger, and says "dropped".  Prints
 * nothing else: who stops it meanwhile must not be noticed.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FN	__attribute__((noinline, noclone))
#define NR	40
#define SIZE	100
#define OLD	16

/* What was there before anybody looked: only these lead to some of what comes later. */
static void **old[OLD];
static void *volatile of_data[NR];
static unsigned char *volatile inside[NR];
static volatile int asleep, busy, swapping, over;
static volatile unsigned long rounds;
static void *volatile sink;
static volatile int wakes;

FN static void *take_old(void)
{
	return calloc(NR, sizeof(void *));
}

FN static void take_data(void)
{
	for (int i = 0; i < NR; i++)
		of_data[i] = memset(malloc(SIZE), 0xd1, SIZE);
}

FN static void take_by_old(void)
{
	for (int i = 0; i < NR; i++)
		old[0][i] = memset(malloc(SIZE), 0xd2, SIZE);
}

/* Not a word of them is kept. */
FN static void take_lost(void)
{
	for (int i = 0; i < NR; i++)
		sink = memset(malloc(SIZE), 0, SIZE);
	sink = NULL;
}

/* The first of a list is lost; the others only it leads to. */
FN static void take_list(void)
{
	void *volatile *volatile last = NULL;

	for (int i = 0; i < NR; i++) {
		void *volatile *one = memset(malloc(SIZE), 0, SIZE);

		*one = (void *)last;
		last = one;
	}
	last = NULL;
}

FN static void take_inside(void)
{
	for (int i = 0; i < NR; i++)
		inside[i] = (unsigned char *)memset(malloc(SIZE), 0xd3, SIZE) + 8;
}

FN static void drop(void)
{
	for (int i = 0; i < NR; i++) {
		free(of_data[i]);
		of_data[i] = memset(malloc(SIZE), 0xd1, SIZE);
		old[0][i] = realloc(old[0][i], 2 * SIZE);
	}
}

FN static void wipe(void)
{
	volatile char room[16384];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

FN static void take_asleep(void *volatile *to)
{
	for (int i = 0; i < NR; i++)
		to[i] = memset(malloc(SIZE), 0xd4, SIZE);
}

FN static void take_busy(void *volatile *to)
{
	for (int i = 0; i < NR; i++)
		to[i] = memset(malloc(SIZE), 0xd5, SIZE);
}

static int all_are(void *volatile *at, int what)
{
	for (int i = 0; i < NR; i++)
		for (int k = 0; k < SIZE; k++)
			if (((unsigned char *)at[i])[k] != what)
				return 0;
	return 1;
}

static void *sleeps(void *arg)
{
	void *volatile mine[NR];
	const struct timespec long_time = { 1000, 0 };
	sigset_t *set = arg;

	take_asleep(mine);
	wipe();
	asleep = 1;
	/* a stop must not wake it */
	while (!sigtimedwait(set, NULL, &long_time) || errno == EINTR) {
		if (over)
			break;
		wakes++;
	}
	return (void *)(uintptr_t)all_are(mine, 0xd4);
}

static void *runs(void *arg)
{
	void *volatile mine[NR];

	(void)arg;
	take_busy(mine);
	busy = 1;
	while (!over)
		rounds++;
	return (void *)(uintptr_t)all_are(mine, 0xd5);
}

/* Exchanges two addresses, which nearly all the time only its vectors have. */
static void *swapped[2];

FN static void take_swapped(void)
{
	for (int i = 0; i < 2; i++)
		swapped[i] = memset(malloc(SIZE), 0xd6, SIZE);
}

static void *swaps(void *arg)
{
	take_swapped();
	wipe();
	swapping = 1;
	while (!over)
#ifdef __x86_64__
		__asm__ volatile("movq (%0), %%xmm14\n\tmovq 8(%0), %%xmm15\n\t"
				 "movq $0, (%0)\n\tmovq $0, 8(%0)\n\tmov $20000, %%ecx\n"
				 "1:\tdec %%ecx\n\tjnz 1b\n\t"
				 "movq %%xmm15, (%0)\n\tmovq %%xmm14, 8(%0)"
				 : : "r"(swapped) : "xmm14", "xmm15", "ecx", "memory", "cc");
#else
		usleep(1000);
#endif
	return arg;
}

static void *idles(void *arg)
{
	(void)arg;
	while (!over)
		usleep(20000);
	return NULL;
}

static void wait_for(const sigset_t *set, int sig)
{
	int got;

	while ((got = sigwaitinfo(set, NULL)) != sig) {
		if (got != SIGHUP)
			continue;
		drop();
		puts("dropped");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const int more = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t sleeper, runner, swapper, idle;
	void *slept, *ran;
	sigset_t set, other;
	int fine;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigemptyset(&other);
	sigaddset(&other, SIGURG);
	sigprocmask(SIG_BLOCK, &other, NULL);
	for (int i = 0; i < OLD; i++)
		old[i] = take_old();
	puts("ready");
	fflush(stdout);
	wait_for(&set, SIGUSR1);
	take_data();
	take_by_old();
	take_lost();
	take_list();
	take_inside();
	wipe();
	if (pthread_create(&sleeper, NULL, sleeps, &other) ||
	    pthread_create(&runner, NULL, runs, NULL) ||
	    (more && pthread_create(&swapper, NULL, swaps, NULL)))
		return 1;
	for (int i = 0; i < more; i++)
		if (pthread_create(&idle, NULL, idles, NULL))
			return 1;
	while (!asleep || !busy || swapping != !!more)
		usleep(1000);
	wipe();
	puts("taken");
	fflush(stdout);
	wait_for(&set, SIGUSR2);
	over = 1;
	pthread_kill(sleeper, SIGURG);
	if (pthread_join(sleeper, &slept) || pthread_join(runner, &ran) ||
	    (more && pthread_join(swapper, NULL)))
		return 1;
	fine = slept && ran && rounds && all_are(of_data, 0xd1) && all_are(old[0], 0xd2);
	for (int i = 0; i < NR; i++)
		fine &= inside[i][0] == 0xd3;
	for (int i = 0; more && i < 2; i++)
		fine &= *(unsigned char *)swapped[i] == 0xd6;
	puts(fine ? "as it was" : "something has changed");
	return fine ? 0 : 1;
}
