// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_malloc FILE: build a heap with known contents.  It has threads with arenas of their own, free
 * blocks between others, cached blocks, blocks with mappings of their own, and unreachable
 * blocks.  FILE has the output of malloc_info().  After "ready" no thread does anything until
 * SIGTERM.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NR		1000
#define THREADS		5

struct operations {
	void (*open)(void);
	void (*close)(void);
};

static void nothing(void) { }
/* (not static: it has a name in the dynamic symbols of whoever exports it) */
const struct operations lost_operations = { nothing, nothing };

struct file {
	const struct operations *ops;
	char rest[112];
};

static void *kept[3 * NR], *in_arena[THREADS][NR], *large[8];
static volatile int left = THREADS;

static __attribute__((noinline)) void *clear_stack(void)
{
	volatile char room[16384];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
	return room[17] ? (void *)&left : NULL;
}

static __attribute__((noinline)) void lose(void)
{
	for (int i = 0; i < 400; i++) {
		struct file *f = calloc(1, sizeof(*f));

		f->ops = &lost_operations;
	}
	/* a list, of which only the first one is lost by itself */
	void **last = NULL;

	for (int i = 0; i < 100; i++) {
		void **next = calloc(1, 200);

		*next = last;
		last = next;
	}
}

static __attribute__((noinline)) void fill(void **at, size_t size, unsigned int step)
{
	for (int i = 0; i < NR; i++)
		at[i] = calloc(1, size + (size_t)(i % 7) * 24);
	for (int i = 0; i < NR; i += (int)step) {
		free(at[i]);
		at[i] = NULL;
	}
}

static void *work(void *arg)
{
	fill(arg, 100, 3);
	__atomic_sub_fetch(&left, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
	return NULL;
}

static void map_large(void)
{
	for (int i = 0; i < 4; i++)
		large[i] = calloc(1, (300U << 10) + (size_t)i * 5000);
	large[4] = aligned_alloc(64, 400 << 10);
	large[5] = aligned_alloc(4096, 512 << 10);
	large[6] = aligned_alloc(65536, 512 << 10);
	large[7] = malloc(900 << 10);
	free(large[7]);
	large[7] = NULL;
	/* reserved, and not touched: no memory of it comes by being looked at */
	for (int i = 4; i < 7; i++)
		memset(large[i], 1, 100);
}

int main(int argc, char **argv)
{
	static char buf[1 << 16];
	pthread_t t;
	FILE *f = argc == 2 ? fopen(argv[1], "w") : NULL;

	if (!f)
		return 2;
	setvbuf(f, buf, _IOFBF, sizeof(buf));
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	mallopt(M_TOP_PAD, 192 << 10);
	fill(kept, 40, 2);
	fill(kept + NR, 500, 3);
	fill(kept + 2 * NR, 3000, 4);
	lose();
	clear_stack();
	map_large();
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t, NULL, work, in_arena[i]))
			return 1;
	while (__atomic_load_n(&left, __ATOMIC_SEQ_CST))
		usleep(1000);
	malloc_info(0, f);
	fflush(f);
	if (write(1, "ready\n", 6) != 6)
		return 1;
	for (;;)
		pause();
}
