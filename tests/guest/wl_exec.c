// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_exec PROGRAM ARGS...: call execve() in a thread other than the main one, which the kernel
 * ends.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *become(void *argv)
{
	execv(*(char **)argv, argv);
	perror("execv");
	_exit(1);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 2 || pthread_create(&thread, NULL, become, argv + 1))
		return 2;
	for (;;)
		pause();
}
