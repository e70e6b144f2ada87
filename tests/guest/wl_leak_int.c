// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The example programs of articles about leaks, with shorter pauses:
 *
 *	wl_leak_int loop N PAUSE_US		a loop that leaks an int each time
 *	wl_leak_int thread N PAUSE_US		a thread that leaks 8 KiB each time
 *
 * and both without the bug: "loop-repaired", "thread-repaired".
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FN	__attribute__((noipa, noinline))

static bool repaired;
static unsigned long times;
static useconds_t pause_us;

FN void leak(void)
{
	int *number = malloc(sizeof(*number));

	*(volatile int *)number = 42;
	if (repaired)
		free(number);
}

FN void someFunc(void)
{
	unsigned long i;

	for (i = 0; i < times; i++) {
		leak();
		usleep(pause_us);
	}
}

FN long long *fibonacci(long long *n0, long long *n1)
{
	long long *next = calloc(1024, sizeof(*next));

	*next = *n0 + *n1;
	return next;
}

FN void *child(void *unused)
{
	long long zero = 0, one = 1, *n0 = &zero, *n1 = &one, *n2;
	unsigned long i;

	for (i = 0; i < times; i++) {
		n2 = fibonacci(n0, n1);
		if (repaired && n0 != &zero && n0 != &one)
			free(n0);
		n0 = n1;
		n1 = n2;
		usleep(pause_us);
	}
	for (i = 0; repaired && i < 2; i++) {
		n2 = i ? n1 : n0;
		if (n2 != &zero && n2 != &one)
			free(n2);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t id;

	if (argc != 4)
		return 2;
	times = strtoul(argv[2], NULL, 0);
	pause_us = strtoul(argv[3], NULL, 0);
	repaired = strstr(argv[1], "repaired");
	if (!strncmp(argv[1], "loop", 4)) {
		someFunc();
	} else {
		if (pthread_create(&id, NULL, child, NULL))
			return 1;
		pthread_join(id, NULL);
	}
	return 0;
}
