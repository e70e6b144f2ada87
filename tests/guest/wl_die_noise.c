// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Continuous load: page faults, mappings, a heap that grows and shrinks, malloc() and free(),
 * short processes.  Ends with its parent.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEN	(32 << 12)

/*
 * An emulated processor gives way to the others at "pause" only, or after a tenth of a
 * second: who waits for an answer from this one should not wait for that.
 */
static void give_way(void)
{
	__builtin_ia32_pause();
}

static void faults(void)
{
	char *p = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (p == MAP_FAILED)
		return;
	for (i = 0; i < LEN; i += 4096) {
		((volatile char *)p)[i] = 1;
		give_way();
	}
	munmap(p, LEN);
}

static void heap(void)
{
	void *volatile p[32];
	size_t i;

	for (i = 0; i < 32; i++)
		p[i] = malloc(16 << (i % 12));
	give_way();
	for (i = 0; i < 32; i++)
		free(p[i]);
	if (sbrk(16384) != (void *)-1)
		sbrk(-16384);
}

int main(void)
{
	unsigned int n;
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (nice(19) < 0)
		return 2;
	for (n = 0;; n++) {
		faults();
		heap();
		give_way();
		syscall(SYS_getppid);
		prctl(PR_SET_NAME, "wl_die_noise");
		if (n % 16)
			continue;
		pid = fork();
		if (!pid) {
			heap();
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}
