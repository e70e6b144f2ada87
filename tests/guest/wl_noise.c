// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cause the same events as the workloads in another process, without end.  Tests must not count
 * them, or must tell them apart.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"

/* Also what the workloads call it: the same name of another file. */
WL_FN void wl_ppid(void)
{
	wl_syscall3(SYS_getppid, 0, 0, 0);
}

WL_FN void wl_rename(void)
{
	prctl(PR_SET_NAME, "wl_noise");
}

WL_FN void wl_heap(void)
{
	long now = wl_syscall3(SYS_brk, 0, 0, 0);

	wl_syscall3(SYS_brk, now + 8192, 0, 0);
	wl_syscall3(SYS_brk, now, 0, 0);
}

WL_FN void wl_fault(void)
{
	long len = 64 << 12, p = wl_mmap(len, PROT_WRITE | PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS);
	long i;

	if (wl_failed(p))
		return;
	for (i = 0; i < len; i += 4096)
		((volatile char *)p)[i] = 1;
	wl_syscall3(SYS_munmap, p, len, 0);
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 8000000 };

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	/* a test that dies leaves nobody to stop this */
	alarm(7200);
	for (;;) {
		wl_ppid();
		wl_rename();
		wl_heap();
		wl_fault();
		/* the guest has few processors, and those are emulated */
		nanosleep(&pause, NULL);
	}
}
