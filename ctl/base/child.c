// SPDX-License-Identifier: GPL-2.0-or-later
/* Set up a child process that works only for its parent. */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/child.h"

#define MOST_OPEN	1024		/* looked at where there is no /proc */

static void keep_only(int fd)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *e;

	while (dir && (e = readdir(dir)) != NULL) {
		const int other = atoi(e->d_name);

		if (e->d_name[0] != '.' && other != fd && other != dirfd(dir))
			close(other);
	}
	if (dir)
		closedir(dir);
	for (int other = 0; !dir && other < MOST_OPEN; other++)
		if (other != fd)
			close(other);
}

void child_detach(int keep, pid_t parent)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	keep_only(keep);
	prctl(PR_SET_DUMPABLE, 0);
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
