// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_die FD NAPS LIBRARY KINDS: computes, in threads, what it checks, until SIGTERM;
 * then ends with 0 if all was right.  FD is a struct die_shared, from NAPS sleepers
 * read what wakes them.  KINDS of threads, a letter each:
 *
 *	m	asks for memory, writes, reads, frees, calls functions
 *	d	dlopen() of LIBRARY, a call, dlclose(); D: ten times less often
 *	f	forks a child that does as m; F: ten times less often
 *	s	sleeps inside functions that others put probes on
 *	x	ends, or calls execve(), when it is told
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "wl_die.h"

#define FN	__attribute__((noipa, used))

static struct die_shared *sh;
static int naps;
static char **args;
static volatile sig_atomic_t ends;
static unsigned int dl_pace = 1, fork_pace = 1;
static __thread sigjmp_buf way_out;
static __thread volatile sig_atomic_t napping;

FN uint64_t die_step(uint64_t x)
{
	return die_truth(x);
}

FN uint64_t die_outer(uint64_t x)
{
	return die_step(x) ^ 1;
}

FN uint64_t die_held(uint64_t x)
{
	return die_truth(x) ^ 2;
}

/* Returns when somebody writes a byte. */
FN uint64_t die_nap(uint64_t x)
{
	char c;

	die_add(&sh->asleep);
	while (read(naps, &c, 1) < 0 && errno == EINTR)
		;
	return x + 1;
}

FN uint64_t die_deep(uint64_t x, unsigned int depth)
{
	return (depth ? die_deep(x, depth - 1) : die_nap(x)) + 1;
}

static void check(int right)
{
	if (!right)
		die_add(&sh->bad);
}

static void on_term(int sig)
{
	(void)sig;
	ends = 1;
}

static void on_leave(int sig)
{
	(void)sig;
	if (napping && die_get(&sh->leave))
		siglongjmp(way_out, 1);
}

static void nap_us(long us)
{
	const struct timespec t = { .tv_nsec = us * 1000 };

	nanosleep(&t, NULL);
}

static void compute(uint64_t *x, unsigned char round)
{
	unsigned char *p[8];
	size_t i;

	for (i = 0; i < 8; i++) {
		p[i] = i % 4 ? malloc(24 + 40 * i) : calloc(1, 24 + 40 * i);
		memset(p[i], round, 24 + 40 * i);
	}
	for (i = 0; i < 8; i++) {
		check(p[i][0] == round && p[i][23 + 40 * i] == round);
		if (i & 1)
			p[i] = realloc(p[i], 500);
		check(p[i][20] == round);
		free(p[i]);
	}
	check(die_outer(*x) == (die_truth(*x) ^ 1));
	check(die_step(*x) == die_truth(*x));
	check(die_held(*x) == (die_truth(*x) ^ 2));
	*x = die_truth(*x) + (syscall(SYS_getppid) > 0);
}

static void *memory_thread(void *turns)
{
	unsigned char round = 0;
	uint64_t x = 1;

	while (!ends) {
		compute(&x, ++round);
		die_add((uint64_t *)turns);
		nap_us(5000);
	}
	return NULL;
}

static void *dl_thread(void *turns)
{
	uint64_t (*fn)(uint64_t), x = 5;
	void *lib;

	while (!ends) {
		lib = dlopen(args[3], RTLD_NOW);
		die_add(&sh->opens);
		fn = lib ? (uint64_t (*)(uint64_t))dlsym(lib, "die_lib") : NULL;
		check(fn && fn(x) == (die_truth(x) ^ 3));
		nap_us(10000 * dl_pace);
		if (lib)
			dlclose(lib);
		die_add(&sh->closes);
		die_add((uint64_t *)turns);
		nap_us(10000 * dl_pace);
	}
	return NULL;
}

static void child(void)
{
	uint64_t x = 7;
	int i;

	for (i = 0; i < 3; i++) {
		compute(&x, i);
		nap_us(1000);
	}
	_exit(42);
}

static void *fork_thread(void *turns)
{
	int status;
	pid_t pid;

	while (!ends) {
		pid = fork();
		if (!pid)
			child();
		die_add(&sh->forks);
		die_set(&sh->child, pid);
		check(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		      WEXITSTATUS(status) == 42);
		die_set(&sh->child, 0);
		die_add((uint64_t *)turns);
		nap_us(30000 * fork_pace);
	}
	return NULL;
}

static void *sleep_thread(void *turns)
{
	volatile uint64_t x = 100;
	volatile uint32_t seen = 0;

	die_set(&sh->sleepers[die_add(&sh->nr_sleepers) - 1], (pid_t)syscall(SYS_gettid));
	signal(SIGUSR1, on_leave);
	for (; !ends; die_add((uint64_t *)turns)) {
		if (die_get(&sh->sleep) == seen) {
			nap_us(1000);
			continue;
		}
		seen = die_get(&sh->sleep);
		if (sigsetjmp(way_out, 1)) {
			napping = 0;
			die_add(&sh->left);
			continue;
		}
		napping = 1;
		x = die_deep(x, DIE_DEEP - 1);
		napping = 0;
		check(x == 100 + DIE_DEEP + 1);
		x = 100;
		die_add(&sh->woke);
	}
	return NULL;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void *act_thread(void *turns)
{
	uint32_t act;

	while (!ends) {
		act = die_get(&sh->act);
		if (act == ACT_NONE || now_ns() < die_get(&sh->act_at)) {
			die_add((uint64_t *)turns);
			nap_us(200);
			continue;
		}
		die_set(&sh->act, ACT_NONE);
		die_set(&sh->acted_at, now_ns());
		die_add(&sh->acts);
		if (act == ACT_EXEC)
			execv(args[0], args);
		if (act == ACT_KILL)
			kill(getpid(), SIGKILL);
		_exit(17);
	}
	return NULL;
}

static pthread_t start(char kind, uint64_t *turns)
{
	const char small = kind | 32;
	void *(*fn)(void *) = small == 'm' ? memory_thread : small == 'd' ? dl_thread :
			      small == 'f' ? fork_thread : small == 's' ? sleep_thread :
			      act_thread;
	pthread_t id;

	if (kind == 'D')
		dl_pace = 10;
	if (kind == 'F')
		fork_pace = 10;
	if (pthread_create(&id, NULL, fn, turns))
		exit(2);
	return id;
}

int main(int argc, char **argv)
{
	pthread_t id[DIE_THREADS];
	size_t i;

	if (argc != 5 || strlen(argv[4]) > DIE_THREADS)
		return 2;
	args = argv;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, on_term);
	naps = atoi(argv[2]);
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[1]), 0);
	if (sh == MAP_FAILED)
		return 2;
	die_set(&sh->fn[DIE_STEP], (uintptr_t)die_step);
	die_set(&sh->fn[DIE_OUTER], (uintptr_t)die_outer);
	die_set(&sh->fn[DIE_HELD], (uintptr_t)die_held);
	die_set(&sh->fn[DIE_DEEPLY], (uintptr_t)die_deep);
	die_set(&sh->fn[DIE_NAP], (uintptr_t)die_nap);
	for (i = 0; argv[4][i]; i++)
		id[i] = start(argv[4][i], &sh->turns[i]);
	die_add(&sh->execs);
	while (i)
		pthread_join(id[--i], NULL);
	return die_get(&sh->bad) ? 1 : 0;
}
