// SPDX-License-Identifier: GPL-2.0-or-later
/* Stop all threads of a process by ptrace(), and resume them. */
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
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "leaks/stopped.h"
#include "target/maps.h"
#include "target/procmaps.h"

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
	size_t sorted;			/* of these, by number: those of former passes */
	pid_t stuck;			/* does not stop, or 0 */
};

pid_t stopped_by(pid_t pid)
{
	return (pid_t)procmaps_status(pid, "TracerPid");
}

size_t stopped_count(pid_t pid)
{
	return (size_t)procmaps_status(pid, "Threads");
}

static int by_tid(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static bool has_one(const struct stopped *s, pid_t tid)
{
	const struct one key = { .tid = tid };

	return s->sorted && bsearch(&key, s->at, s->sorted, sizeof(key), by_tid);
}

/* The state of a thread: 'Z' has ended, 'D' cannot be interrupted; 0: it is gone. */
static char state_of(pid_t pid, pid_t tid)
{
	char path[48], *text, state = 0;
	const char *end;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return 0;
	end = strrchr(text, ')');
	if (end && end[1] == ' ')
		state = end[2];
	free(text);
	return state;
}

/* The first thread may have ended before the others. */
static bool has_ended(pid_t pid, pid_t tid)
{
	const char state = state_of(pid, tid);

	return !state || state == 'Z' || state == 'X';
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
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL)) {
		if (errno == ESRCH || (errno == EPERM && has_ended(s->pid, tid)))
			return 0;
		return errno == EPERM ? -EBUSY : -errno;
	}
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

static int wait_for_all(struct stopped *s, size_t first, __u64 deadline)
{
	for (size_t i = first; i < s->nr;) {
		const int err = wait_for(s, i, deadline);

		if (err == -ETIMEDOUT)
			s->stuck = s->at[i].tid;
		if (err && err != -EAGAIN)
			return err;
		i += !err;
	}
	if (s->nr)
		qsort(s->at, s->nr, sizeof(*s->at), by_tid);
	s->sorted = s->nr;
	return 0;
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
		err = add(s, tid);
		*more |= s->nr > before;
	}
	closedir(dir);
	return err ? err : wait_for_all(s, before, deadline);
}

/* The number of the system call that it is in, or -1. */
static long call_of(pid_t pid, pid_t tid)
{
	char path[48], *text, *end;
	long nr;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return -1;
	nr = strtol(text, &end, 10);
	if (end == text)
		nr = -1;
	free(text);
	return nr;
}

static bool is_vfork(long call)
{
#ifdef SYS_vfork
	if (call == SYS_vfork)
		return true;
#endif
#ifdef SYS_clone3
	if (call == SYS_clone3)
		return true;
#endif
	return call == SYS_clone;
}

#define MOST_ASKED	64		/* threads */

/* A thread of it that waits in vfork(), or 0. */
static pid_t find_vfork(pid_t pid)
{
	const struct dirent *e;
	pid_t found = 0;
	char path[32];
	int nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && !found && nr++ < MOST_ASKED && (e = readdir(dir))) {
		const pid_t tid = isdigit((unsigned char)e->d_name[0]) ? atoi(e->d_name) : 0;

		if (tid && state_of(pid, tid) == 'D' && is_vfork(call_of(pid, tid)))
			found = tid;
	}
	if (dir)
		closedir(dir);
	return found;
}

/*
 * It does not stop until its child is done, and a thread that was told to stop and waits there is
 * not ended by SIGTERM any more: so nothing is done to it.
 */
static int wait_for_vfork(pid_t pid, __u64 deadline, pid_t *stuck)
{
	const struct timespec pause = { 0, 10 * PAUSE_NS };

	for (;;) {
		*stuck = find_vfork(pid);
		if (!*stuck)
			return 0;
		if (clock_ns() > deadline)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
}

int stopped_begin(pid_t pid, __u64 deadline_ns, struct stopped **out, pid_t *tracer)
{
	struct stopped *s = calloc(1, sizeof(*s));
	bool more = true;
	int err;

	*tracer = 0;
	if (!s)
		return -ENOMEM;
	s->pid = pid;
	err = wait_for_vfork(pid, deadline_ns, &s->stuck);
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
	else if (err == -ETIMEDOUT)
		*tracer = s->stuck;
	stopped_end(s);
	return err;
}

/* ---- why a thread does not stop ---- */

/* Its last child, or 0. */
static pid_t child_of(pid_t pid, pid_t tid)
{
	char path[48], *text, *last;
	pid_t child = 0;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return 0;
	for (last = text; *last;) {
		child = (pid_t)strtol(last, &last, 10);
		last += strspn(last, " \n");
	}
	free(text);
	return child;
}

void stopped_why_stuck(char *text, size_t len, pid_t pid, pid_t tid)
{
	char child[32] = "";

	if (state_of(pid, tid) != 'D') {
		snprintf(text, len, "thread %d of process %d did not stop in time", tid, pid);
	} else if (is_vfork(call_of(pid, tid))) {
		const pid_t last = child_of(pid, tid);

		if (last)
			snprintf(child, sizeof(child), " (%d)", last);
		snprintf(text, len, "thread %d of process %d waits in vfork() and cannot be "
			 "stopped until its child%s runs another program or ends", tid, pid,
			 child);
	} else {
		snprintf(text, len, "thread %d of process %d waits in the kernel and cannot be "
			 "interrupted (state D)", tid, pid);
	}
}

/* ---- how long it takes ---- */

#define TIMED		16

/*
 * To stop a thread, read its registers and let it go on is five system calls and two changes of
 * the thread that runs: about what reading two files of /proc takes.
 */
__u64 stopped_estimate(size_t threads)
{
	const __u64 begin = clock_ns();

	for (int i = 0; i < TIMED; i++)
		state_of(getpid(), getpid());
	return (clock_ns() - begin) * 2 / TIMED * threads;
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

__u64 stopped_base(void *stopped, pid_t tid)
{
#ifdef __x86_64__
	struct user_regs_struct u;

	if (has_one(stopped, tid) && !ptrace(PTRACE_GETREGS, tid, NULL, &u))
		return u.fs_base;
#else
	(void)stopped;
	(void)tid;
#endif
	return 0;
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
