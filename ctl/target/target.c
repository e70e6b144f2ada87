// SPDX-License-Identifier: GPL-2.0-or-later
/* Find target processes, and launch programs. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/limit.h"
#include "target/maps.h"
#include "target/target.h"

/* pid (comm) state ...; the comm may have blanks and brackets */
bool target_parse_stat(const char *text, struct target_stat *st)
{
	unsigned long long minor, major, cminor, cmajor, start;
	const char *p = strrchr(text, ')');

	memset(st, 0, sizeof(*st));
	if (!p || sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %llu %llu %llu %llu"
			 " %*u %*u %*d %*d %*d %*d %*d %*d %llu", &st->state, &minor,
			 &cminor, &major, &cmajor, &start) != 6)
		return false;
	st->faults = minor + major;
	st->child_faults = cminor + cmajor;
	st->start = start;
	return true;
}

int target_stat(pid_t pid, struct target_stat *st)
{
	char path[32], *text;
	bool good;
	size_t len;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	err = maps_slurp(AT_FDCWD, path, &text, &len);
	if (err)
		return err == -ENOENT ? -ESRCH : err;
	good = target_parse_stat(text, st);
	free(text);
	return good ? 0 : -ESRCH;
}

static int try_path(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	return S_ISREG(st.st_mode) && !access(path, X_OK) ? 0 : -EACCES;
}

int target_find(const char *name, char *path, size_t len)
{
	const char *dirs = getenv("PATH");
	int err = -ENOENT, n;

	if (strchr(name, '/')) {
		if (snprintf(path, len, "%s", name) >= (int)len)
			return -ENAMETOOLONG;
		return try_path(name);
	}
	if (!dirs)
		dirs = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		const int dir_len = (int)strcspn(dirs, ":");

		n = snprintf(path, len, "%.*s%s%s", dir_len, dirs,
			     dir_len ? "/" : "./", name);
		if (*name && n < (int)len) {
			switch (try_path(path)) {
			case 0:
				return 0;
			case -EACCES:
				err = -EACCES;
			}
		}
		if (!dirs[dir_len])
			return err;
		dirs += dir_len + 1;
	}
}

static struct sigaction pipe_before;
static bool pipe_ignored;

void target_ignore_pipe(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	pipe_ignored = !sigaction(SIGPIPE, &ignore, &pipe_before);
}

/*
 * In the child.  All that is possible was done before, so that as few page
 * faults as possible lie between the start of counting and the program's own.
 */
static void wait_and_exec(const struct target *t, int go, int failed, char **argv)
{
	char byte;
	int err;

	if (read(go, &byte, 1) != 1)
		_exit(127);		/* memtap gave up, or is dead */
	sigprocmask(SIG_SETMASK, &t->mask, NULL);
	if (t->apart)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execv(t->path, argv);
	err = errno;
	if (write(failed, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

int target_launch(struct target *t, char **argv, const sigset_t *mask)
{
	int go[2], failed[2], err;

	*t = (struct target){ .mask = *mask, .apart = t->apart };
	err = target_find(argv[0], t->path, sizeof(t->path));
	if (err)
		return err;
	/* a socket, because writing to a pipe that nobody reads is a signal */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		err = -errno;
		goto err_go;
	}
	fflush(NULL);
	t->pid = fork();
	if (t->pid < 0) {
		err = -errno;
		t->pid = 0;
		goto err_failed;
	}
	if (!t->pid) {
		close(go[1]);
		limit_restore();
		if (pipe_ignored)
			sigaction(SIGPIPE, &pipe_before, NULL);
		wait_and_exec(t, go[0], failed[1], argv);
	}
	close(go[0]);
	close(failed[1]);
	t->go = go[1];
	t->failed = failed[0];
	return 0;

err_failed:
	close(failed[0]);
	close(failed[1]);
err_go:
	close(go[0]);
	close(go[1]);
	return err;
}

/* VmHWM: what the kernel will call the greatest RSS of whoever comes after execve() */
static __u64 rss_until_now(pid_t pid)
{
	unsigned long long kib;
	char path[32], *text, *line;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return 0;
	line = strstr(text, "\nVmHWM:");
	if (!line || sscanf(line + 7, "%llu", &kib) != 1)
		kib = 0;
	free(text);
	return kib * 1024;
}

int target_release(struct target *t)
{
	int err = 0;
	ssize_t n;

	target_stat(t->pid, &t->before);
	t->rss_before = rss_until_now(t->pid);
	if (send(t->go, "", 1, MSG_NOSIGNAL) != 1)
		return -errno;
	t->released = true;
	do {
		n = read(t->failed, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	close(t->go);
	close(t->failed);
	return n == sizeof(err) ? -err : 0;
}

bool target_ended(struct target *t)
{
	siginfo_t info = { 0 };
	struct rusage usage;

	if (t->ended)
		return true;
	if (waitid(P_PID, (id_t)t->pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
	    !info.si_pid)
		return false;
	/* still there as a zombie, with its own counters */
	if (target_stat(t->pid, &t->after))
		t->after = t->before;
	if (wait4(t->pid, &t->status, 0, &usage) == t->pid)
		t->rss_most = (__u64)usage.ru_maxrss * 1024;
	else
		t->status = 0;
	t->ended = true;
	return true;
}

void target_close(struct target *t)
{
	const struct timespec pause = { 0, 20 * 1000 * 1000 };

	if (!t->pid || t->ended)
		return;
	if (!t->released) {
		close(t->go);		/* it reads the end, and exits */
		close(t->failed);
	} else {
		kill(t->pid, SIGTERM);
	}
	for (int i = 0; i < 50 && !target_ended(t); i++)
		nanosleep(&pause, NULL);
}

/* sigabbrev_np(3) is of 2020 */
static const char *signal_name(int sig)
{
	static const char *const names[] = {
		[SIGHUP] = "SIGHUP", [SIGINT] = "SIGINT", [SIGQUIT] = "SIGQUIT",
		[SIGILL] = "SIGILL", [SIGTRAP] = "SIGTRAP", [SIGABRT] = "SIGABRT",
		[SIGBUS] = "SIGBUS", [SIGFPE] = "SIGFPE", [SIGKILL] = "SIGKILL",
		[SIGUSR1] = "SIGUSR1", [SIGSEGV] = "SIGSEGV", [SIGUSR2] = "SIGUSR2",
		[SIGPIPE] = "SIGPIPE", [SIGALRM] = "SIGALRM", [SIGTERM] = "SIGTERM",
		[SIGSTKFLT] = "SIGSTKFLT", [SIGXCPU] = "SIGXCPU", [SIGXFSZ] = "SIGXFSZ",
		[SIGVTALRM] = "SIGVTALRM", [SIGPROF] = "SIGPROF", [SIGIO] = "SIGIO",
		[SIGPWR] = "SIGPWR", [SIGSYS] = "SIGSYS",
	};
	const size_t nr = sizeof(names) / sizeof(names[0]);

	return (size_t)sig < nr && names[sig] ? names[sig] : "a real-time signal";
}

const char *target_killed_by(const struct target *t)
{
	return t->ended && WIFSIGNALED(t->status) ? signal_name(WTERMSIG(t->status)) : NULL;
}

int target_exit_status(const struct target *t)
{
	if (WIFSIGNALED(t->status))
		return 128 + WTERMSIG(t->status);
	return WEXITSTATUS(t->status);
}
