// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pairs of malloc() and free() from eight paths ten deep, one block in a hundred
 * never freed, as many as it is told by each line of its standard input; it then says
 * how many ns they took, and how many bytes it leaked.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FN	__attribute__((noipa))
#define RING	64

typedef void *(*path)(size_t n);

#define LAST(p) FN void *p##_10(size_t n) { void *b = malloc(n); __asm__ volatile(""); return b; }
#define STEP(p, at, next) \
FN void *p##_##at(size_t n) { void *b = p##_##next(n); __asm__ volatile(""); return b; }
#define PATH(p) LAST(p) STEP(p, 9, 10) STEP(p, 8, 9) STEP(p, 7, 8) STEP(p, 6, 7) \
	STEP(p, 5, 6) STEP(p, 4, 5) STEP(p, 3, 4) STEP(p, 2, 3) STEP(p, 1, 2)

PATH(a) PATH(b) PATH(c) PATH(d) PATH(e) PATH(f) PATH(g) PATH(h)

static const path paths[8] = { a_1, b_1, c_1, d_1, e_1, f_1, g_1, h_1 };
static void *ring[RING];

FN static uint64_t pairs(unsigned long nr)
{
	uint32_t random = 12345;
	uint64_t leaked = 0;
	unsigned long i;
	size_t size;

	for (i = 0; i < nr; i++) {
		random = random * 1664525u + 1013904223u;
		size = 16 + (random >> 16) % 497;
		free(ring[i % RING]);
		ring[i % RING] = paths[i % 8](size);
		*(volatile char *)ring[i % RING] = 1;
		if (i % 100 == 42) {
			leaked += size;
			ring[i % RING] = NULL;
		}
	}
	for (i = 0; i < RING; i++) {
		free(ring[i]);
		ring[i] = NULL;
	}
	return leaked;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(void)
{
	unsigned long nr;
	uint64_t before, after, leaked;
	char line[64];

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		nr = strtoul(line, NULL, 0);
		if (!nr)
			break;
		before = now();
		leaked = pairs(nr);
		after = now();
		printf("%.1f %llu\n", (double)(after - before) / nr, (unsigned long long)leaked);
	}
	return 0;
}
