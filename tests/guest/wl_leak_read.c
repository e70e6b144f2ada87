// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For what reports say beside their numbers: a program that leaks in ways that are long to
 * read, is killed, starts others, or leaves one behind.
 *
 *	creds		20 blocks of 333 bytes
 *	lines		a function that leaks on two lines
 *	deep N		in the depth of N calls of itself
 *	abort		3 blocks, and abort()
 *	grow SECONDS	100 kB once, then 10 bytes ten times a second; says "ready"
 *	fork N		N processes, one after the other, that leak as "creds"
 *	daemon		a child goes on for 60 s, says who it is; the parent ends
 *	thread		a thread that leaks as "creds"
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP	__attribute__((noinline, noclone, noipa))

static void *volatile last;

KEEP static void creds(void)
{
	for (int i = 0; i < 20; i++) {
		last = malloc(333);
		memset(last, 1, 333);
	}
	last = NULL;
}

KEEP static void lines(void)
{
	last = malloc(11);
	last = malloc(13);
	last = NULL;
}

KEEP static int deep(int n)
{
	int less = 0;

	if (n)
		less = deep(n - 1);
	else
		last = malloc(17);
	last = NULL;
	return less + 1;
}

KEEP static void big(void)
{
	last = malloc(100000);
}

KEEP static void small(void)
{
	last = malloc(10);
}

static void grow(int seconds)
{
	big();
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < seconds * 10; i++) {
		small();
		usleep(100000);
	}
}

static void *thread(void *arg)
{
	creds();
	return arg;
}

/* Nothing on the stack leads to what is lost. */
KEEP static void clear(void)
{
	char room[16384];

	memset(room, 0, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
}

static void fork_some(int n)
{
	for (int i = 0; i < n; i++) {
		const pid_t pid = fork();

		if (!pid) {
			creds();
			clear();
			exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void leave(void)
{
	if (fork())
		return;
	printf("%d\n", getpid());
	fflush(stdout);
	sleep(60);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "creds";
	const int n = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t t;

	if (!strcmp(what, "creds"))
		creds();
	else if (!strcmp(what, "lines"))
		lines();
	else if (!strcmp(what, "deep"))
		deep(n);
	else if (!strcmp(what, "grow"))
		grow(n);
	else if (!strcmp(what, "fork"))
		fork_some(n);
	else if (!strcmp(what, "daemon"))
		leave();
	else if (!strcmp(what, "thread") && !pthread_create(&t, NULL, thread, NULL))
		pthread_join(t, NULL);
	if (!strcmp(what, "abort")) {
		for (int i = 0; i < 3; i++)
			last = malloc(40);
		abort();
	}
	clear();
	return 0;
}
