// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_reexec: allocates, says "life", and executes itself at each SIGUSR1.  Where addresses are
 * not random, its stacks are those of its former lives.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char *volatile kept;

static __attribute__((noipa)) void take_config(void)
{
	for (int i = 0; i < 10; i++) {
		kept = malloc(1000);
		if (kept)
			kept[0] = 1;
	}
}

int main(int argc, char **argv)
{
	sigset_t set;
	int sig;

	(void)argc;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	take_config();
	puts("life");
	fflush(stdout);
	sigwait(&set, &sig);
	execl("/proc/self/exe", argv[0], (char *)NULL);
	return 1;
}
