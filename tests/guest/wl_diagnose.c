// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_diagnose WHAT: for tests/guest/diagnose.t, until it is killed or some minutes are over; says
 * "ready" when it does it.
 *
 *	leak KIB	allocates KIB in parse_row() each 0.1 s and keeps it, small blocks
 *	saw KIB STEPS	the same in fill_cache(), and frees all of it after each STEPS steps
 *	tables N	touches N pages each 0.1 s, of which each needs a page of tables
 *	busy KIB	leak, and as many calls of malloc() and free() as there is time for
 *	quiet		waits
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define APART	__attribute__((noipa))
#define BLOCK	1024UL

struct block {
	struct block *next;
	char text[BLOCK - sizeof(struct block *)];
};

static struct block *rows, *cache;

static void pause_ms(long ms)
{
	const struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

static struct block *filled(struct block *b, struct block *next)
{
	if (!b)
		exit(1);
	memset(b->text, 1, sizeof(b->text));
	b->next = next;
	return b;
}

APART static void parse_row(void)
{
	rows = filled(malloc(sizeof(*rows)), rows);
}

APART static void fill_cache(void)
{
	cache = filled(malloc(sizeof(*cache)), cache);
}

APART static void drop_cache(void)
{
	struct block *next;

	for (; cache; cache = next) {
		next = cache->next;
		free(cache);
	}
	/* (the last blocks are kept at hand, and those below them with them) */
	malloc_trim(0);
}

/* for the 0.1 s until the next step */
APART static void churn(void)
{
	struct timespec from, now;
	void *p;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		for (int i = 0; i < 100; i++) {
			p = malloc(64);
			/* (it is not to be optimized away) */
			asm volatile("" : "+r"(p));
			free(p);
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < 100000000);
}

#define APART_BYTES	(2UL << 20)	/* that a page of tables is for */

APART static void touch_sparse(unsigned long n)
{
	static char *at, *end;

	if (!at) {
		at = mmap(NULL, 200UL << 30, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (at == MAP_FAILED)
			exit(1);
		madvise(at, 200UL << 30, MADV_NOHUGEPAGE);
		end = at + (200UL << 30);
	}
	for (; n && at < end; n--, at += APART_BYTES)
		*at = 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const unsigned long kib = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	const unsigned long steps = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	const time_t end = time(NULL) + 400;

	puts("ready");
	fflush(stdout);
	for (unsigned long n = 1; time(NULL) < end; n++) {
		if (!strcmp(what, "tables"))
			touch_sparse(kib);
		for (unsigned long i = 0; i < kib; i++)
			if (!strcmp(what, "leak") || !strcmp(what, "busy"))
				parse_row();
			else if (!strcmp(what, "saw"))
				fill_cache();
		if (steps && !(n % steps))
			drop_cache();
		if (!strcmp(what, "busy"))
			churn();
		else
			pause_ms(100);
	}
	return 0;
}
