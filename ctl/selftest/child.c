// SPDX-License-Identifier: GPL-2.0-or-later
/* A child process that works on request. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "selftest/selftest.h"

#define PATIENCE_MS	60000	/* slow machines: emulated, with a debug kernel */

int st_guard = -1;

static void serve(int fd, pid_t parent, int (*work)(int step))
{
	char step;
	int err;

	/* whatever ends us ends it; and it may have happened already */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (st_guard >= 0)
		close(st_guard);
	while (read(fd, &step, 1) == 1) {
		err = work(step);
		if (write(fd, &err, sizeof(err)) != sizeof(err))
			break;
	}
	_exit(0);
}

int st_child_start(struct st_child *c, int (*work)(int step))
{
	const pid_t parent = getpid();
	int fds[2], err;

	c->pid = 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return -errno;
	fflush(NULL);
	c->pid = fork();
	err = -errno;
	if (!c->pid) {
		close(fds[1]);
		serve(fds[0], parent, work);
	}
	close(fds[0]);
	c->fd = fds[1];
	if (c->pid > 0)
		return 0;
	c->pid = 0;
	close(fds[1]);
	return err;
}

int st_child_step(struct st_child *c, int step)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	const char byte = (char)step;
	int err, n;

	if (send(c->fd, &byte, 1, MSG_NOSIGNAL) != 1)
		return -EPIPE;
	do {
		n = poll(&p, 1, PATIENCE_MS);
	} while (n < 0 && errno == EINTR);
	if (n < 1)
		return -ETIMEDOUT;
	return read(c->fd, &err, sizeof(err)) == sizeof(err) ? err : -EPIPE;
}

void st_child_end(struct st_child *c)
{
	if (!c->pid)
		return;
	close(c->fd);
	kill(c->pid, SIGKILL);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
}
