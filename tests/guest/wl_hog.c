// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocate all memory, 4 MiB at a time, until the OOM killer ends the process; then start again,
 * until the parent is ended.  It allocates slowly if little memory is left, so that the machine
 * reclaims and swaps.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#define PIECE	(4UL << 20)
#define PIECES	500
#define LITTLE	30000			/* KiB */

static long available(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	char line[128];
	long kib = 0;

	while (f && fgets(line, sizeof(line), f) &&
	       sscanf(line, "MemAvailable: %ld", &kib) != 1)
		;
	if (f)
		fclose(f);
	return kib;
}

static void take_all(void)
{
	char *piece;

	for (int i = 0; i < PIECES; i++) {
		piece = mmap(NULL, PIECE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (piece == MAP_FAILED)
			return;
		memset(piece, i + 1, PIECE);
		if (available() < LITTLE)
			usleep(20000);
	}
}

int main(void)
{
	FILE *f = fopen("/proc/self/oom_score_adj", "we");

	if (!f || fputs("1000", f) < 0 || fclose(f))
		return 1;
	for (;;) {
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			take_all();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		usleep(500000);
	}
}
