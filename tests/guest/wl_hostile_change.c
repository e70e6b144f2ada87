// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_hostile_change MODE ROUNDS: change memory while the unwinder reads it.
 *
 *	shared	another process writes to the stack's memory
 *	maps	stack and code are unmapped, protected, moved, and mapped over
 *	signals	nested signal handlers on a stack of their own
 *	deep	more frames than a stack can record
 *
 * Like wl_hostile it prints "ready", waits for SIGUSR1, and prints "lives N".
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wl_hostile.h"

#define APART		__attribute__((noipa, used))
#define PAGES		8
#define LIBRARY		"./wl_load_lib.so"

static volatile int over;
static int rounds;

static unsigned long chance(unsigned long *r)
{
	*r = *r * 6364136223846793005UL + 1442695040888963407UL;
	return *r >> 20;
}

static void cause(char *memory, size_t len, unsigned long r)
{
	const unsigned long at = chance(&r) % len & ~7UL;
	const int by_sp = r >> 32 & 1;
	const unsigned long other = chance(&r) % len & ~7UL;

	one(by_sp ? wl_by_sp : wl_by_bp, (unsigned long)memory + at,
	    (unsigned long)memory + other);
}

/* ---- another process ---- */

static unsigned long any_word(unsigned long *r, unsigned long memory)
{
	switch (chance(r) & 7) {
	case 0:
	case 1:
	case 2:
		return memory + chance(r) % (PAGES * PAGE / 8) * 8;
	case 3:
		return (unsigned long)wl_by_bp + chance(r) % 64;
	case 4:
		return chance(r) << 20 | 1UL << 63;
	case 5:
		return 0;
	default:
		return chance(r);
	}
}

static void scribble(volatile unsigned long *memory)
{
	unsigned long r = 3;

	for (;;)
		memory[chance(&r) % (PAGES * PAGE / 8)] = any_word(&r, (unsigned long)memory);
}

static void shared(void)
{
	char *memory = map(PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	pid_t pid = fork();
	int i;

	if (!pid)
		scribble((void *)memory);
	for (i = 0; i < rounds; i++)
		cause(memory, PAGES * PAGE, i * 77777UL + 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- another thread ---- */

static char *place;		/* stacks, then code */

static void map_over(char *at, int prot, int fd)
{
	const int flags = MAP_FIXED | MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0);

	if (mmap(at, PAGES * PAGE, prot, flags, fd, 0) == MAP_FAILED)
		die("mmap over something");
}

static void *change(void *unused)
{
	const int fd = open(LIBRARY, O_RDONLY | O_CLOEXEC);
	char *code = place + PAGES * PAGE, *moved = code + PAGES * PAGE;
	unsigned long r = 9, *word, i;

	while (!over) {
		map_over(place, PROT_READ | PROT_WRITE, -1);
		word = (unsigned long *)place;
		for (i = 0; i < PAGES * PAGE / 8; i++)
			word[i] = i % 3 ? (unsigned long)code + PAGE + i % 200 :
					  (unsigned long)(word + i + 3);
		map_over(code, PROT_READ | PROT_EXEC, fd);
		mprotect(place + chance(&r) % PAGES * PAGE, PAGE, chance(&r) % 4);
		if (mremap(code, PAGES * PAGE, PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			   moved) == MAP_FAILED)
			die("mremap");
		mprotect(moved, PAGE, PROT_NONE);
		munmap(place, (1 + chance(&r) % PAGES) * PAGE);
		munmap(moved + PAGE, PAGE);
	}
	return unused;
}

static void maps(void)
{
	pthread_t t;
	int i;

	place = map(3 * PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (pthread_create(&t, NULL, change, NULL))
		die("pthread_create");
	for (i = 0; i < rounds; i++)
		cause(place, PAGES * PAGE, i * 33333UL + 1);
	over = 1;
	pthread_join(t, NULL);
}

/* ---- signals ---- */

#define NESTED		12

static volatile sig_atomic_t nested;

static void on_signal(int sig)
{
	one(wl_by_sp, (unsigned long)__builtin_frame_address(0), 0);
	if (++nested % NESTED)
		raise(sig);
	*(volatile char *)touched = 1;
	madvise(touched, PAGE, MADV_DONTNEED);
}

static void signals(void)
{
	const size_t size = 1 << 18;
	stack_t own = { .ss_sp = map(size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1), .ss_size = size };
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER };
	int i;

	if (sigaltstack(&own, NULL) || sigaction(SIGUSR2, &act, NULL))
		die("sigaltstack");
	for (i = 0; i < rounds; i++)
		raise(SIGUSR2);
	if (nested != rounds * NESTED)
		die("handlers that did not run");
}

/* ---- deep ---- */

APART long wl_deeper(long left)
{
	volatile char room[100];

	room[0] = 1;
	if (left)
		return wl_deeper(left - 1) + room[0];
	*(volatile char *)touched = 7;
	madvise(touched, PAGE, MADV_DONTNEED);
	return 0;
}

static void *deep(void *unused)
{
	long frames;
	int i;

	for (i = 0; i < rounds; i++)
		for (frames = 1; frames < 1000000; frames = frames * 4 + 1, cases++)
			if (wl_deeper(frames) != frames)
				die("a function returned something else");
	return unused;
}

static void on_large_stack(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 200 << 20);
	if (pthread_create(&t, &attr, deep, NULL))
		die("pthread_create");
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} modes[] = {
		{ "shared", shared }, { "maps", maps }, { "signals", signals },
		{ "deep", on_large_stack },
	};
	size_t i;

	alarm(7200);
	touched = map(PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	rounds = argc == 3 ? atoi(argv[2]) : 0;
	for (i = 0; rounds && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name))
			continue;
		ready();
		modes[i].fn();
		printf("lives %lu\n", cases);
		return 0;
	}
	fprintf(stderr, "usage: wl_hostile_change MODE ROUNDS\n");
	return 2;
}
