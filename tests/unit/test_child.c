// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/base/child.c */
/* A child that works for its parent holds nothing of the parent's, and ends with it. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "tap.h"

/* What a child finds of itself. */
struct found {
	int dumpable;
	bool default_signals, none_blocked;
};

static void look(struct found *f)
{
	struct sigaction term;
	sigset_t blocked;

	f->dumpable = prctl(PR_GET_DUMPABLE);
	f->default_signals = !sigaction(SIGTERM, NULL, &term) && term.sa_handler == SIG_DFL;
	f->none_blocked = !sigprocmask(SIG_SETMASK, NULL, &blocked) &&
			  !sigismember(&blocked, SIGINT);
}

/* Lives until the other end of @fd is closed, or it is killed. */
static __attribute__((noreturn)) void live(int fd, pid_t parent)
{
	struct found f;
	char byte;

	child_detach(fd, parent);
	look(&f);
	if (write(fd, &f, sizeof(f)) != sizeof(f))
		_exit(1);
	_exit(read(fd, &byte, 1) == 0 ? 0 : 2);
}

/* Nobody has the other end of @fd any more. */
static bool hung_up(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 60000) == 1 && (p.revents & POLLHUP);
}

static void test_what_it_has(bool proc)
{
	const pid_t parent = getpid();
	int talk[2], other[2], status = 0;
	struct found f = { 1, false, false };
	sigset_t set, before;
	pid_t pid;

	signal(SIGTERM, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, &before);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, talk) || pipe(other))
		return;
	pid = fork();
	if (!pid) {
		if (!proc && chroot("/dev"))
			_exit(3);
		live(talk[1], parent);
	}
	close(talk[1]);
	close(other[1]);
	is(read(talk[0], &f, sizeof(f)), sizeof(f), "%s /proc: it can be talked to",
	   proc ? "with" : "without");
	ok(hung_up(other[0]), "what its parent had open, and closes, is closed while it lives");
	is(waitpid(pid, &status, WNOHANG), 0, "(it does live)");
	is(f.dumpable, 0, "it leaves no core");
	ok(f.default_signals, "signals that its parent ignored end it");
	ok(f.none_blocked, "and those that its parent had blocked");
	close(talk[0]);
	is(waitpid(pid, &status, 0), pid, "it ends");
	is(status, 0, "when it is told to");
	close(other[0]);
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Its parent is killed while it waits for a byte that this process could still send. */
static void test_parents_death(void)
{
	int talk[2], status = 0;
	struct found f;
	pid_t pid, grandchild;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, talk))
		return;
	pid = fork();
	if (!pid) {
		grandchild = fork();
		if (!grandchild)
			live(talk[1], getppid());
		pause();
		_exit(0);
	}
	close(talk[1]);
	is(read(talk[0], &f, sizeof(f)), sizeof(f), "a child of a child can be talked to");
	kill(pid, SIGKILL);
	is(waitpid(pid, &status, 0), pid, "its parent is killed");
	ok(hung_up(talk[0]), "and it is gone, too");
	close(talk[0]);
}

static void test_too_late(void)
{
	const pid_t nobody = getpid();
	int status = 1;
	const pid_t pid = fork();

	if (!pid) {
		/* the parent that is meant is not the one that it has */
		child_detach(0, nobody + 1);
		_exit(1);
	}
	is(waitpid(pid, &status, 0), pid, "whose parent died before it began");
	is(status, 0, "ends at once");
}

int main(void)
{
	test_what_it_has(true);
	if (geteuid())
		ok(true, "without /proc # SKIP not root");
	else
		test_what_it_has(false);
	test_parents_death();
	test_too_late();
	return tap_done();
}
