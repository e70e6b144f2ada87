// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_leak_mem CASE: small programs that leak in all ways that memtap must account for, for a
 * comparison with Memcheck (leak-programs lists them).  Each run does the same, whatever the
 * addresses.  Pointers are stored only where intended: in globals and in blocks; take() leaves
 * none behind on the stack.
 */
#include <malloc.h>
#include <pthread.h>
#include <regex.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FN	__attribute__((noipa))

struct node {
	struct node *next;
	char text[24];
};

void *volatile keep[16];	/* what is still reachable */
static __thread void *volatile keep_tls;
static char **args;

/* Addresses of blocks must not survive in dead parts of the stack. */
FN static void wipe(void)
{
	volatile char room[8192];
	size_t i;

	for (i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

FN static void drop(size_t n)
{
	*(volatile char *)malloc(n) = 1;
}

FN static struct node *chain(unsigned int nr)
{
	struct node *first = NULL, *n;

	while (nr--) {
		n = calloc(1, sizeof(*n));
		n->next = first;
		first = n;
	}
	return first;
}

FN static void chain_dropped(unsigned int nr)
{
	*(volatile char *)chain(nr)->text = 1;
}

FN static void ring(unsigned int nr)
{
	struct node *first = chain(nr), *last = first;

	while (last->next)
		last = last->next;
	last->next = first;
}

/* definitely, indirectly, possibly lost, still reachable */
static void plain(void)
{
	drop(10);
	drop(20);
	drop(20);
	chain_dropped(3);
	ring(4);
	keep[0] = chain(5);
	keep[1] = (char *)malloc(100) + 40;
	keep[2] = malloc(1);
	free(malloc(1000));
}

FN static void grow(size_t from, size_t to, unsigned int slot)
{
	keep[slot] = malloc(from);
	keep[slot] = realloc(keep[slot], to);
}

static void reallocs(void)
{
	volatile size_t huge = SIZE_MAX / 2 + 100;
	void *p;

	grow(1000, 200, 0);		/* in place */
	grow(100, 100, 1);
	grow(10, 100000, 2);		/* elsewhere */
	keep[3] = realloc(NULL, 33);
	p = malloc(44);
	if (realloc(p, huge))		/* fails: p stays */
		abort();
	keep[4] = p;
	free(realloc(malloc(5), 50));
	keep[5] = reallocarray(NULL, 3, 7);
	keep[6] = reallocarray(malloc(7), 11, 13);
	p = malloc(66);
	/* frees it, and hands out nothing */
	if (realloc(p, 0))
		abort();
}

static void aligned(void)
{
	volatile size_t wrong = 3;
	void *p = NULL;

	if (posix_memalign(&p, 64, 100))
		abort();
	keep[0] = p;
	if (!posix_memalign(&p, wrong, 100))	/* fails */
		abort();
	if (posix_memalign(&p, 4096, 10))
		abort();
	free(p);
	keep[1] = aligned_alloc(128, 256);
	keep[2] = memalign(32, 77);
	keep[3] = valloc(88);
	free(memalign(512, 5));
	keep[4] = realloc(memalign(256, 40), 4000);
}

static void zero(void)
{
	volatile size_t huge = SIZE_MAX / 2 + 1;

	keep[0] = malloc(0);
	keep[1] = calloc(0, 8);
	keep[2] = calloc(8, 0);
	free(NULL);
	free(malloc(0));
	keep[3] = realloc(malloc(0), 12);
	if (malloc(huge) || calloc(huge, 2))
		abort();
	drop(1);
}

static void *thread(void *given)
{
	free(given);
	drop(11);
	return malloc(13);
}

static void threads(void)
{
	pthread_t id[3];
	void *p;
	size_t i;

	for (i = 0; i < 3; i++)
		if (pthread_create(&id[i], NULL, thread, malloc(100 + i)))
			abort();
	for (i = 0; i < 3; i++) {
		pthread_join(id[i], &p);
		if (i)
			keep[i] = p;
		else
			free(p);
	}
}

static void forks(void)
{
	pid_t child;

	keep[0] = malloc(50);
	drop(51);
	child = fork();
	if (!child) {
		/* of the child alone */
		drop(1000);
		free(keep[0]);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	drop(52);
}

/* What the first program leaked is gone. */
static void execs(void)
{
	if (!getenv("AGAIN")) {
		drop(5000);
		putenv("AGAIN=1");
		execv(args[0], args);
		abort();
	}
	drop(53);
	keep[0] = malloc(54);
}

static jmp_buf out;

static int leave(const void *a, const void *b)
{
	(void)a;
	(void)b;
	longjmp(out, 1);
}

/* Out of the middle of libc, which may have taken memory by then. */
static void jumps(void)
{
	size_t i, n = 3000;
	long *all = malloc(n * sizeof(*all));

	for (i = 0; i < n; i++)
		all[i] = n - i;
	keep[0] = all;
	for (i = 0; i < 3; i++)
		if (!setjmp(out))
			qsort(all, n, sizeof(*all), leave);
	drop(70);
}

static void libc(void)
{
	char *text = NULL, *line = NULL;
	size_t len = 0;
	regex_t re;
	FILE *f;

	keep[0] = strdup("a string");
	if (asprintf(&text, "%d and %s", 42, "more") < 0)
		abort();
	keep[1] = text;
	f = fopen("/proc/self/status", "r");
	if (!f || getline(&line, &len, f) < 0)
		abort();
	fclose(f);
	keep[2] = line;
	f = fopen("/dev/null", "w");
	fprintf(f, "%s\n", text);
	keep[3] = f;
	if (regcomp(&re, "(a|b)+c[[:digit:]]*", REG_EXTENDED) ||
	    regexec(&re, "xabbac12", 0, NULL, 0))
		abort();
	regfree(&re);
	f = open_memstream((char **)&keep[4], &len);
	fputs("into memory", f);
	fclose(f);
	setenv("SOME", "thing", 1);
	puts("standard output has a buffer");
}

static void at_end(void)
{
	drop(90);
	free(keep[0]);
	keep[1] = malloc(91);
}

static void ends(void)
{
	atexit(at_end);
	keep[0] = malloc(92);
}

static void leaves(void)
{
	drop(93);
	keep_tls = malloc(94);	/* of a thread that is there */
	wipe();
	_exit(0);
}

static void *last(void *first)
{
	pthread_join(*(pthread_t *)first, NULL);
	drop(95);
	wipe();
	exit(0);
}

/* The process ends with another thread than the first. */
static void outlived(void)
{
	static pthread_t first;
	pthread_t id;

	first = pthread_self();
	keep[0] = malloc(96);
	if (pthread_create(&id, NULL, last, &first))
		abort();
	pthread_exit(NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "plain", plain }, { "realloc", reallocs }, { "aligned", aligned },
	{ "zero", zero }, { "threads", threads }, { "fork", forks }, { "exec", execs },
	{ "longjmp", jumps }, { "libc", libc }, { "atexit", ends },
	{ "_exit", leaves }, { "outlived", outlived },
};

int main(int argc, char **argv)
{
	size_t i;

	args = argv;
	for (i = 0; argc == 2 && i < sizeof(cases) / sizeof(*cases); i++) {
		if (strcmp(cases[i].name, argv[1]))
			continue;
		cases[i].run();
		wipe();
		return 0;
	}
	return 2;
}
