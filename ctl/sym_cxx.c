// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * C++ names through libstdc++.  In a mangled name a part can stand for all that came
 * before it, and that again for what came before: some hundred bytes may be a name of
 * gigabytes, and whoever writes a program may give that to a function.  The library
 * writes on until it ends, so what may become long is left to a child that may die.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/types.h>

#include "sym_cxx.h"

#define LONGEST		(64UL << 10)	/* of a name; real ones have a tenth of that */
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

/* With its 0, so that the other end knows it to be whole; just that: there is none. */
static void write_name(const char *mangled, int fd)
{
	const char *plain = __cxa_demangle(mangled, NULL, NULL, NULL), *p = plain ? plain : "";
	size_t left = strlen(p) + 1;
	ssize_t n;

	while (left && left <= LONGEST) {
		n = write(fd, p, left);
		if (n < 0 && errno != EINTR)
			break;
		p += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
}

/* The signals of the timers end it, whatever it inherited. */
static void be_limited(void)
{
	const struct itimerval cpu = { .it_value.tv_usec = CHILD_US };
	const struct rlimit no_core = { 0, 0 };
	sigset_t none;

	signal(SIGPROF, SIG_DFL);
	signal(SIGALRM, SIG_DFL);
	setrlimit(RLIMIT_CORE, &no_core);
	setitimer(ITIMER_PROF, &cpu, NULL);
	alarm(CHILD_S);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* NULL: nothing came, or not all. */
static char *read_name(int fd)
{
	char *name = malloc(LONGEST), *fits;
	size_t len = 0;
	ssize_t n = name ? 1 : 0;

	while (n && len < LONGEST) {
		n = read(fd, name + len, LONGEST - len);
		if (n < 0 && errno != EINTR)
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	if (!len || name[len - 1]) {
		free(name);
		return NULL;
	}
	fits = realloc(name, len);
	return fits ? fits : name;
}

static char *ask_child(const char *mangled)
{
	char *name = NULL;
	pid_t child;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return NULL;
	child = fork();
	if (!child) {
		be_limited();
		write_name(mangled, fds[1]);
		_exit(0);
	}
	close(fds[1]);
	if (child > 0)
		name = read_name(fds[0]);
	close(fds[0]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return name;
}

/* ---- here ---- */

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

static char *demangle_apart(const char *mangled)
{
	char *name = NULL;

	pthread_mutex_lock(&lock);
	if (!is_endless(mangled)) {
		name = ask_child(mangled);
		if (!name)
			add_endless(mangled);
	}
	pthread_mutex_unlock(&lock);
	return name;
}

char *cxx_demangle(const char *mangled)
{
	char *name;

	if (most(mangled, strlen(mangled)) > HARMLESS)
		name = demangle_apart(mangled);
	else
		name = __cxa_demangle(mangled, NULL, NULL, NULL);
	if (name && (!*name || strlen(name) >= LONGEST)) {
		free(name);
		return NULL;
	}
	return name;
}
