// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Demangle C++ names through libstdc++.  A part of a mangled name can refer to everything before
 * it, so a few hundred bytes may stand for a name of gigabytes, and a program's author may do that
 * on purpose.  The library has no limit, so names that may become long are demangled in a child
 * process, which may be killed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/types.h>

#include "base/child.h"
#include "sym/cxx.h"

#define LONGEST		(64UL << 10)	/* of a name; real ones have a tenth of that */
#define MANGLED_MAX	4096		/* of a mangled one, with its 0 */
#define HARMLESS	(4ULL << 20)	/* bytes that the library may write in this process */
#define CHILD_US	100000		/* of processor time */
#define CHILD_S		10		/* of any time, should it wait for something */
#define MOST_ENDLESS	20		/* then nothing is left to children any more */

/* libstdc++'s, declared here because its header is C++ */
char *__cxa_demangle(const char *mangled, char *out, size_t *len, int *status);

/* How often the bits of @n can be halved. */
static unsigned int bits(size_t n)
{
	unsigned int nr = 0;

	for (; n; n >>= 1)
		nr++;
	return nr;
}

/* An upper bound of what the library writes, and of its steps. */
static __u64 most(const char *name, size_t len)
{
	unsigned int doubled = 0;
	__u64 size = 0;

	for (const char *p = name; *p; p++) {
		/* one letter is an abbreviation of so much at most: "Sd" */
		size += 32;
		/* a constructor has its class's name again, a pack is looked for */
		if (*p == 'C' || *p == 'D')
			size += len;
		/* S_, S1_, T_, TL0__: what came before, or an argument of the template */
		if ((*p == 'S' || *p == 'T') && (p[1] == '_' || (p[1] >= '0' && p[1] <= '9') ||
						 (p[1] >= 'A' && p[1] <= 'Z')))
			doubled++;
		/* a pattern, for each of a pack */
		if ((*p == 'D' || *p == 's') && p[1] == 'p')
			doubled += bits(len);
		if (doubled >= 40)
			return ~0ULL;
	}
	return size << doubled;		/* a name has 4 KiB at most: less than 2^64 */
}

/* ---- in a child ---- */

/* The signals of the timers end it. */
static void limit_time(bool limited)
{
	const struct itimerval cpu = { .it_value.tv_usec = limited ? CHILD_US : 0 };

	setitimer(ITIMER_PROF, &cpu, NULL);
	alarm(limited ? CHILD_S : 0);
}

static bool read_name(int fd, char *name, size_t room)
{
	size_t len = 0;
	ssize_t n;

	while (!len || name[len - 1]) {
		n = len < room ? read(fd, name + len, room - len) : 0;
		if (!n || (n < 0 && errno != EINTR))
			return false;
		len += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* With its 0, which tells the other end that it is whole. */
static bool write_name(int fd, const char *name)
{
	size_t left = strlen(name) + 1;
	ssize_t n;

	while (left) {
		n = send(fd, name, left, MSG_NOSIGNAL);
		if (n < 0 && errno != EINTR)
			return false;
		name += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

static __attribute__((noreturn)) void serve(int fd, pid_t parent)
{
	char mangled[MANGLED_MAX];
	bool more = true;
	char *plain;

	child_detach(fd, parent);
	while (more && read_name(fd, mangled, sizeof(mangled))) {
		limit_time(true);
		plain = __cxa_demangle(mangled, NULL, NULL, NULL);
		limit_time(false);
		/* "": there is none, or none of a length that anybody wants */
		more = write_name(fd, plain && strlen(plain) < LONGEST ? plain : "");
		free(plain);
	}
	_exit(0);
}

/* ---- here ---- */

/* The child that is asked; it stays until it dies of a name. */
static struct {
	pid_t pid;
	int fd;
} child;

static bool start_child(void)
{
	const pid_t parent = getpid();
	int fds[2];

	if (child.pid)
		return true;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return false;
	child.pid = fork();
	if (!child.pid)
		serve(fds[1], parent);
	close(fds[1]);
	child.fd = fds[0];
	if (child.pid > 0)
		return true;
	child.pid = 0;
	close(child.fd);
	return false;
}

/* Returns how it ended, as of waitpid(). */
static int end_child(void)
{
	int status = 0;

	close(child.fd);
	while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
		;
	child.pid = 0;
	return status;
}

/* Those that came to no end; a name is asked for at each address where it occurs. */
static char *endless[MOST_ENDLESS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_endless(const char *mangled)
{
	for (size_t i = 0; i < MOST_ENDLESS; i++)
		if (!endless[i] || !strcmp(endless[i], mangled))
			return endless[i] != NULL;
	return true;
}

static void add_endless(const char *mangled)
{
	for (size_t i = 0; i < MOST_ENDLESS; i++)
		if (!endless[i]) {
			endless[i] = strdup(mangled);
			return;
		}
}

/* *again: the child did not die of this name. */
static char *ask_child(const char *mangled, bool *again)
{
	char *name = malloc(LONGEST), *fits;
	int status;

	*again = false;
	if (!name || !start_child()) {
		free(name);
		return NULL;
	}
	if (write_name(child.fd, mangled) && read_name(child.fd, name, LONGEST)) {
		fits = realloc(name, strlen(name) + 1);
		return fits ? fits : name;
	}
	free(name);
	status = end_child();
	/* by a timer, or a stack without end; or with the thread that began it */
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL && WTERMSIG(status) != SIGTERM)
		add_endless(mangled);
	else
		*again = true;
	return NULL;
}

static char *demangle_apart(const char *mangled)
{
	char *name = NULL;
	bool again;

	pthread_mutex_lock(&lock);
	if (!is_endless(mangled)) {
		name = ask_child(mangled, &again);
		if (again)
			name = ask_child(mangled, &again);
	}
	pthread_mutex_unlock(&lock);
	return name;
}

char *cxx_demangle(const char *mangled)
{
	const size_t len = strlen(mangled);
	char *name;

	if (len >= MANGLED_MAX)
		return NULL;
	if (most(mangled, len) > HARMLESS)
		name = demangle_apart(mangled);
	else
		name = __cxa_demangle(mangled, NULL, NULL, NULL);
	if (name && (!*name || strlen(name) >= LONGEST)) {
		free(name);
		return NULL;
	}
	return name;
}
