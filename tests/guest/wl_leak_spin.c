// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Asks for memory and frees it until SIGTERM, in two threads; leaks nothing. Checks
 * what it wrote: ends with 1 if that is not there.
 *
 *	wl_leak_spin [PAUSE_US [COMMAND...]]	at SIGUSR1: execs that
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t ends, execs;
static useconds_t pause_us = 1000;

static void on_signal(int sig)
{
	if (sig == SIGTERM)
		ends = 1;
	else
		execs = 1;
}

static void *spin(void *unused)
{
	unsigned char *p[16], round = 0;
	size_t i;

	while (!ends && !execs) {
		round++;
		for (i = 0; i < 16; i++) {
			p[i] = malloc(20 + 40 * i);
			memset(p[i], round, 20 + 40 * i);
		}
		for (i = 0; i < 16; i++) {
			if (p[i][10] != round)
				_exit(1);
			p[i] = realloc(p[i], 100);
			free(p[i]);
		}
		usleep(pause_us);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t id;

	alarm(7200);
	signal(SIGTERM, on_signal);
	signal(SIGUSR1, on_signal);
	if (argc > 1)
		pause_us = atoi(argv[1]);
	if (pthread_create(&id, NULL, spin, NULL))
		return 2;
	spin(NULL);
	pthread_join(id, NULL);
	if (execs && argc > 2)
		execvp(argv[2], argv + 2);
	return 0;
}
