// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_leak_trend SECONDS: until killed, allocate in functions whose names say the lifetime of their
 * blocks, as seen in a recording of SECONDS, as evenly as the machine allows.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FN	__attribute__((noinline, noclone))
#define SIZE	200
#define STEP_MS	20
#define CACHE	25		/* slots: half a second of steps */
#define LIST	100000

static void *volatile cache[CACHE];
static void *volatile queue[1000];
static void *volatile start[200];
static void *volatile list[LIST];
static void *volatile used;

FN static void trend_start(int i)
{
	start[i] = malloc(SIZE);
}

FN static void trend_lost(void)
{
	used = malloc(SIZE);
	used = NULL;
}

FN static void trend_list(unsigned long n)
{
	list[n % LIST] = malloc(SIZE);
}

FN static void trend_fills(int i)
{
	cache[i] = malloc(SIZE);
}

/* Each lives for @life steps. */
FN static void trend_queue(unsigned long n, unsigned long life)
{
	free(queue[n % life]);
	queue[n % life] = malloc(SIZE);
}

FN static void trend_churn(void)
{
	free(used);
	used = malloc(SIZE);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 10, begin = now();
	const struct timespec step = { 0, STEP_MS * 1000000L };
	const unsigned long life = (unsigned long)(seconds * 1000 / STEP_MS / 6) + 1;
	unsigned long n = 0;

	for (int i = 0; i < 200; i++)
		trend_start(i);
	for (;; n++) {
		trend_lost();
		trend_list(n);
		if (n < CACHE)
			trend_fills((int)n);
		trend_queue(n, life < 1000 ? life : 1000);
		trend_churn();
		/* what a stall of the machine has cost is made up for */
		while (now() < begin + (double)n * STEP_MS / 1000)
			nanosleep(&step, NULL);
	}
}
