// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "leaks/stopped.h"
#include "target/maps.h"

#define PAUSE_NS	100000L
#define PASSES		100		/* threads that make threads end at some time */

struct one {
	pid_t tid;
	int sig;			/* that it was about to get, or 0 */
	bool stands;
};

struct stopped {
	pid_t pid;
	struct one *at;
	size_t nr, room;
};

pid_t stopped_by(pid_t pid)
{
	char path[32], *text;
	const char *line;
	pid_t tracer = 0;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return 0;
	line = strstr(text, "\nTracerPid:");
	if (line)
		tracer = (pid_t)strtol(line + strlen("\nTracerPid:"), NULL, 10);
	free(text);
	return tracer;
}

static bool has_one(const struct stopped *s, pid_t tid)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->at[i].tid == tid)
			return true;
	return false;
}

static int add(struct stopped *s, pid_t tid)
{
	struct one *more;

	if (s->nr == s->room) {
		more = reallocarray(s->at, 2 * s->room + 16, sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->at = more;
		s->room = 2 * s->room + 16;
	}
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return errno == ESRCH ? 0 : errno == EPERM ? -EBUSY : -errno;
	s->at[s->nr++] = (struct one){ .tid = tid };
	return ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) && errno != ESRCH ? -errno : 0;
}

/* What stopped it: our interrupt, or a signal that is on its way and will still be. */
static void see(struct one *t, int status)
{
	t->stands = true;
	if (status >> 16 != PTRACE_EVENT_STOP)
		t->sig = WSTOPSIG(status);
}

static int wait_for(struct stopped *s, size_t i, __u64 deadline)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int status;
	pid_t got;

	for (;;) {
		got = waitpid(s->at[i].tid, &status, __WALL | WNOHANG);
		if (got > 0 && WIFSTOPPED(status)) {
			see(&s->at[i], status);
			return 0;
		}
		if (got > 0 || (got < 0 && errno == ECHILD)) {	/* it has ended */
			s->at[i] = s->at[--s->nr];
			return -EAGAIN;
		}
		if (clock_ns() > deadline)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
}

/* Those that are not stopped yet; *@more: there were some. */
static int take_threads(struct stopped *s, __u64 deadline, bool *more)
{
	const size_t before = s->nr;
	const struct dirent *e;
	char path[32];
	int err = 0;
	DIR *dir;

	*more = false;
	snprintf(path, sizeof(path), "/proc/%d/task", s->pid);
	dir = opendir(path);
	if (!dir)
		return -ESRCH;
	while (!err && (e = readdir(dir))) {
		const pid_t tid = isdigit((unsigned char)e->d_name[0]) ? atoi(e->d_name) : 0;

		if (!tid || has_one(s, tid))
			continue;
		*more = true;
		err = add(s, tid);
	}
	closedir(dir);
	for (size_t i = before; !err && i < s->nr;) {
		err = wait_for(s, i, deadline);
		if (err == -EAGAIN)
			err = 0;
		else
			i++;
	}
	return err;
}

int stopped_begin(pid_t pid, __u64 deadline_ns, struct stopped **out, pid_t *tracer)
{
	struct stopped *s = calloc(1, sizeof(*s));
	bool more = true;
	int err = 0;

	*tracer = 0;
	if (!s)
		return -ENOMEM;
	s->pid = pid;
	for (int i = 0; !err && more && i < PASSES; i++) {
		err = take_threads(s, deadline_ns, &more);
		if (!err && more && clock_ns() > deadline_ns)
			err = -ETIMEDOUT;
	}
	if (!err && more)
		err = -ETIMEDOUT;
	if (!err && !s->nr)
		err = -ESRCH;
	if (!err) {
		*out = s;
		return 0;
	}
	if (err == -EBUSY)
		*tracer = stopped_by(pid);
	stopped_end(s);
	return err;
}

size_t stopped_threads(const struct stopped *s)
{
	return s->nr;
}

size_t stopped_regs(void *stopped, pid_t tid, __u64 regs[MEMTAP_HELD_REGS])
{
#ifdef __x86_64__
	struct user_regs_struct u;

	if (!has_one(stopped, tid) || ptrace(PTRACE_GETREGS, tid, NULL, &u))
		return 0;
	memcpy(regs, (const __u64[MEMTAP_HELD_REGS]) {
		u.rax, u.rdx, u.rcx, u.rbx, u.rsi, u.rdi, u.rbp, u.rsp,
		u.r8, u.r9, u.r10, u.r11, u.r12, u.r13, u.r14, u.r15, u.rip,
	}, sizeof(__u64[MEMTAP_HELD_REGS]));
	return MEMTAP_HELD_REGS;
#else
	(void)stopped;
	(void)tid;
	(void)regs;
	return 0;
#endif
}

size_t stopped_vectors(void *stopped, pid_t tid, __u64 *words, size_t room)
{
#ifdef __x86_64__
	static const int kinds[] = { NT_X86_XSTATE, NT_FPREGSET };
#else
	static const int kinds[] = { NT_FPREGSET };
#endif
	struct iovec to;

	for (size_t i = 0; has_one(stopped, tid) && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		to = (struct iovec){ words, room * sizeof(*words) };
		if (!ptrace(PTRACE_GETREGSET, tid, (void *)(long)kinds[i], &to))
			return to.iov_len / sizeof(*words);
	}
	return 0;
}

/* Only who stands can be let go; of the others the kernel does it. */
void stopped_end(struct stopped *s)
{
	for (size_t i = 0; s && i < s->nr; i++)
		if (s->at[i].stands)
			ptrace(PTRACE_DETACH, s->at[i].tid, NULL, (void *)(long)s->at[i].sig);
	if (s)
		free(s->at);
	free(s);
}
