// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/leaks/stopped.c ctl/base/openreg.c ctl/base/opt_value.c ctl/target/ldcache.c */
/* LINK: ctl/target/maps.c ctl/target/procmaps.c */
/*
 * A child of ours with threads that count, of which one counts signals, too: stopped, it
 * stands still; and in whatever way that ends, it goes on, and no signal is lost.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "leaks/stopped.h"
#include "tap.h"

#define NR		4
#define SECONDS		20

static struct shared {
	volatile unsigned long counts[NR];
	volatile int signals;
	volatile int holds;
} *shared;

#define HELD	0x5107e57dULL		/* doubled; nowhere else in registers */


static void on_signal(int sig)
{
	(void)sig;
	shared->signals++;
}

static void *count(void *arg)
{
	volatile unsigned long *n = arg;

	for (;;) {
		(*n)++;
		if (!(*n % 1000))
			usleep(100);
	}
	return NULL;
}

/* It has a word in a vector alone. */
static void *hold(void *arg)
{
#ifdef __x86_64__
	unsigned long word = HELD;

	__asm__ volatile("movq %0, %%xmm9\n\tpslldq $8, %%xmm9\n\tpaddq %%xmm9, %%xmm9\n\t"
			 "xor %0, %0" : "+r"(word) : : "xmm9");
	for (shared->holds = 1;;)
		__asm__ volatile("pause");
#endif
	return arg;
}

static pid_t start(void)
{
	const pid_t pid = fork();
	pthread_t t;

	if (pid)
		return pid;
	alarm(120);
	signal(SIGUSR1, on_signal);
	for (int i = 1; i < NR; i++)
		pthread_create(&t, NULL, count, (void *)&shared->counts[i]);
	pthread_create(&t, NULL, hold, NULL);
	count((void *)&shared->counts[0]);
	_exit(0);
}

static __u64 in_seconds(unsigned int n)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (__u64)(ts.tv_sec + n) * 1000000000ULL + (__u64)ts.tv_nsec;
}

/* Does each of them count on, sooner or later? */
static bool goes_on(void)
{
	unsigned long before[NR];
	bool all = false;

	for (int i = 0; i < NR; i++)
		before[i] = shared->counts[i];
	for (int n = 0; n < SECONDS * 100 && !all; n++) {
		usleep(10000);
		all = true;
		for (int i = 0; i < NR; i++)
			all &= shared->counts[i] != before[i];
	}
	return all;
}

static bool stands(void)
{
	unsigned long before[NR];
	bool all = true;

	for (int i = 0; i < NR; i++)
		before[i] = shared->counts[i];
	usleep(50000);
	for (int i = 0; i < NR; i++)
		all &= shared->counts[i] == before[i];
	return all;
}

/* Of any of its threads. */
static bool in_vectors(struct stopped *s, pid_t pid)
{
#ifdef __x86_64__
	bool found = false;
	__u64 words[2048];
	struct dirent *e;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		const size_t nr = stopped_vectors(s, atoi(e->d_name), words, 2048);

		for (size_t i = 0; i < nr; i++)
			found |= words[i] == 2 * HELD;
	}
	if (dir)
		closedir(dir);
	return found;
#else
	(void)pid;
	return s;
#endif
}

static void test_stop(pid_t pid)
{
	__u64 regs[MEMTAP_HELD_REGS] = { 0 };
	struct stopped *s = NULL;
	pid_t tracer;

	if (!is(stopped_begin(pid, in_seconds(SECONDS), &s, &tracer), 0, "it can be stopped"))
		return;
	is(stopped_threads(s), NR + 1, "all its threads");
	ok(stands(), "and stands still");
	is(stopped_regs(s, pid, regs), MEMTAP_HELD_REGS, "its registers are known");
	ok(regs[7] && regs[16], "among them stack pointer and instruction");
	ok(in_vectors(s, pid), "and what is in vectors");
	is(stopped_regs(s, getpid(), regs), 0, "not those of others");
	is(stopped_by(pid), getpid(), "it is said who traces it");
	kill(pid, SIGUSR1);
	stopped_end(s);
	ok(goes_on(), "it goes on");
	is(shared->signals, 1, "the signal that came meanwhile arrived");
	is(stopped_by(pid), 0, "and nobody traces it");
}

/* A signal stops a thread first: it is passed on. */
static void test_signals(pid_t pid)
{
	const int before = shared->signals;
	struct stopped *s;
	pid_t tracer;
	int sent = 0;

	for (int i = 0; i < 50; i++) {
		kill(pid, SIGUSR1);
		if (stopped_begin(pid, in_seconds(SECONDS), &s, &tracer))
			break;
		stopped_end(s);
		sent++;
		for (int n = 0; n < SECONDS * 100 && shared->signals != before + sent; n++)
			usleep(10000);
	}
	is(sent, 50, "fifty times with a signal on its way");
	is(shared->signals - before, 50, "each arrived once");
	ok(goes_on(), "and it goes on");
}

static struct stopped *left;

static void *leave(void *arg)
{
	pid_t tracer;

	return (void *)(long)stopped_begin(*(pid_t *)arg, in_seconds(SECONDS), &left, &tracer);
}

static void test_tracer_ends(pid_t pid)
{
	pthread_t t;
	void *ret;

	pthread_create(&t, NULL, leave, &pid);
	pthread_join(t, &ret);
	is((long)ret, 0, "who traces it ends without a word");
	ok(goes_on(), "it goes on");
	stopped_end(left);		/* frees its memory; it is not ours any more */
	ok(goes_on(), "still");
}

static void test_others(pid_t pid)
{
	struct stopped *s;
	int ready[2];
	pid_t other, tracer;
	char c;

	if (pipe(ready))
		return;
	other = fork();
	if (!other) {
		c = ptrace(PTRACE_SEIZE, pid, NULL, NULL) ? 'n' : 'y';
		if (write(ready[1], &c, 1) == 1)
			pause();
		_exit(0);
	}
	ok(read(ready[0], &c, 1) == 1 && c == 'y', "(somebody else traces it)");
	is(stopped_begin(pid, in_seconds(SECONDS), &s, &tracer), -EBUSY, "then it is EBUSY");
	is(tracer, other, "and said who does");
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	ok(goes_on(), "it goes on");
	close(ready[0]);
	close(ready[1]);
}

static void test_gone(pid_t pid)
{
	struct stopped *s;
	pid_t tracer;

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	is(stopped_begin(pid, in_seconds(1), &s, &tracer), -ESRCH, "one that has ended is ESRCH");
}

int main(void)
{
	pid_t pid;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	pid = start();
	while (!shared->holds)
		usleep(1000);
	ok(goes_on(), "(the child counts)");
	test_stop(pid);
	test_signals(pid);
	test_tracer_ends(pid);
	test_others(pid);
	test_gone(pid);
	return tap_done();
}
