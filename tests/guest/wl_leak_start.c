// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_leak_start ROOT FILE PROGRAM [ARG]...: act as the first process of a container.  Waits until
 * FILE exists, changes its root to ROOT, starts PROGRAM by vfork() and waits for its end.  It is
 * static and stripped, so that no allocator is found in it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int status = 1;
	pid_t pid;

	if (argc < 4)
		return 2;
	while (access(argv[2], F_OK))
		usleep(20000);
	if (chroot(argv[1]) || chdir("/"))
		return 3;
	pid = vfork();
	if (!pid) {
		execv(argv[3], argv + 3);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}
