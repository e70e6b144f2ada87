// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process that lives until SIGTERM, most of the time inside wl_nap(): what a
 * probe on its return leaves behind there must not hurt it.  Exits with 0 if
 * every call came back right.
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"

static volatile sig_atomic_t ended;

static void on_term(int sig)
{
	(void)sig;
	ended = 1;
}

WL_FN int wl_nap(int x)
{
	struct timespec t = { .tv_nsec = 20000000 };

	wl_syscall3(SYS_nanosleep, (long)&t, 0, 0);
	return x + 1;
}

WL_FN int wl_nap_twice(int x)
{
	return wl_nap(wl_nap(x));
}

int main(void)
{
	int n = 0, rounds = 0;

	signal(SIGTERM, on_term);
	alarm(7200);
	for (; !ended; rounds++)
		n = wl_nap_twice(n);
	return n != 2 * rounds;
}
