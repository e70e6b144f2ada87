// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * System calls that are pairs of tracepoints, so many of each kind:
 *
 *	wl_pairs whole N	N of lseek(), to a place of their own
 *	wl_pairs again N	N times getppid(), getppid(), getuid()
 *	wl_pairs naps N		N of nanosleep(), of 20 ms
 *	wl_pairs die N		N children that end in exit_group(), one after the other, and
 *				call getppid() before
 *	wl_pairs threads N	4 threads with N of getppid() each
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long n;

static void *call(void *arg)
{
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
	return arg;
}

int main(int argc, char **argv)
{
	const struct timespec nap = { 0, 20000000 };
	const char *what = argc > 2 ? argv[1] : "";
	pthread_t threads[4];
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	n = argc > 2 ? atol(argv[2]) : 0;
	for (long i = 0; !strcmp(what, "whole") && i < n; i++)
		syscall(SYS_lseek, fd, i, SEEK_SET);
	for (long i = 0; !strcmp(what, "again") && i < n; i++) {
		syscall(SYS_getppid);
		syscall(SYS_getppid);
		syscall(SYS_getuid);
	}
	for (long i = 0; !strcmp(what, "naps") && i < n; i++)
		syscall(SYS_nanosleep, &nap, NULL);
	for (long i = 0; !strcmp(what, "die") && i < n; i++) {
		const pid_t child = fork();

		if (!child) {
			syscall(SYS_getppid);
			syscall(SYS_exit_group, 0);
		}
		waitpid(child, NULL, 0);
	}
	for (int i = 0; !strcmp(what, "threads") && i < 4; i++)
		pthread_create(&threads[i], NULL, call, NULL);
	for (int i = 0; !strcmp(what, "threads") && i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
