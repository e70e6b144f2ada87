// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For test_heap_others.sh: a program that runs with another malloc (LD_PRELOAD), and says what it
 * holds: "kind", "holder" and "lost", each with a number of blocks; "size" with how many blocks of
 * which usable size; and what the allocator's own statistics say, in bytes: "allocated", "cached",
 * of which "waiting" blocks were freed by another thread.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NR	5000
#define THREADS	3
#define HANDED	40		/* blocks that each thread makes, and the main one frees */

struct operations {
	void (*run)(void);
};

struct session {
	struct session *next;
	char *name;
	const struct operations *operations;
	long number;
	char rest[700];
};

struct session *session_list;
void *sizes_of_mine[64];
char *large_blocks[12];
static void *handed[THREADS][HANDED];
static size_t visited[THREADS];
static pthread_barrier_t made, counted;

static void run(void)
{
}

const struct operations session_operations = { run };

/* Between those that stay, as many come and go. */
static void add_session(int i)
{
	struct session *s = malloc(sizeof(*s)), *other = malloc(sizeof(*s));
	char *name = malloc(40);

	memset(name, 0, 40);
	snprintf(name, 40, "a text of many words, number %d", i);
	memset(s, 0, sizeof(*s));
	*s = (struct session){ session_list, name, &session_operations, i, "" };
	session_list = s;
	free(other);
}

static void make_sizes(void)
{
	for (int round = 0; round < 7; round++)
		for (int i = 0; i < 64; i++) {
			free(sizes_of_mine[i]);
			sizes_of_mine[i] = calloc(1, (size_t)(i + 1) * (i + 1) * 50);
		}
	for (int i = 0; i < 12; i++)
		large_blocks[i] = calloc(1, (size_t)(i + 1) * 300000);
	for (int i = 0; i < 12; i += 3) {
		free(large_blocks[i]);
		large_blocks[i] = NULL;
	}
}

__attribute__((noinline)) static void lose(void)
{
	for (int i = 0; i < 20; i++) {
		char *volatile lost = malloc(3000);

		memset(lost, 'x', 3000);
	}
}

/* Blocks of all sizes come and go, so that their pages are divided and joined; some stay. */
static void churn(void)
{
	static void *blocks[3000];
	unsigned long random = 1;

	for (int i = 0; i < 60000; i++) {
		const size_t at = (random = random * 6364136223846793005 + 1442695040888963407) >>
				  40;
		const size_t size = at % 64 ? random >> 61 ? 2000 : 40000 : 3000000;

		free(blocks[at / 64 % 3000]);
		blocks[at / 64 % 3000] = at % 8 ? malloc((random >> 20) % size + 1) :
				    memalign(65536, (random >> 20) % size + 1);
	}
}

/* What was left on the stack, and in registers. */
__attribute__((noinline)) static void wipe(void)
{
	volatile char room[16384];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

/* ---- what the allocator says ---- */

static bool jemalloc_says(const char *what, size_t *value)
{
	int (*ctl)(const char *, void *, size_t *, void *, size_t) =
		(int (*)(const char *, void *, size_t *, void *, size_t))
		dlsym(RTLD_DEFAULT, "mallctl");
	unsigned long long epoch = 1;
	size_t len = sizeof(*value);

	return ctl && !ctl("epoch", NULL, NULL, &epoch, sizeof(epoch)) &&
	       !ctl(what, value, &len, NULL, 0);
}

static bool tcmalloc_says(const char *what, size_t *value)
{
	int (*get)(const char *, size_t *) = (int (*)(const char *, size_t *))
		dlsym(RTLD_DEFAULT, "MallocExtension_GetNumericProperty");

	return get && get(what, value);
}

struct mi_area {
	void *blocks;
	size_t reserved, committed, used, block_size;
};

static bool add_area(const void *heap, const struct mi_area *a, void *block, size_t size,
		     void *ctx)
{
	(void)heap;
	(void)block;
	(void)size;
	*(size_t *)ctx += a->used * a->block_size;
	return true;
}

/* Of the thread that asks. */
static void mimalloc_says(size_t *value)
{
	const void *(*heap)(void) = (const void *(*)(void))
		dlsym(RTLD_DEFAULT, "mi_heap_get_default");
	bool (*visit)(const void *, bool, bool (*)(const void *, const struct mi_area *, void *,
						   size_t, void *), void *) =
		(bool (*)(const void *, bool, bool (*)(const void *, const struct mi_area *,
						       void *, size_t, void *), void *))
		dlsym(RTLD_DEFAULT, "mi_heap_visit_blocks");

	*value = 0;
	if (heap && visit)
		visit(heap(), false, add_area, value);
}

static void say(void)
{
	size_t value = 0, waiting = 0;

	for (int t = 0; t < THREADS; t++)
		waiting += visited[t];
	if (jemalloc_says("stats.allocated", &value)) {
		printf("allocated\t%zu\n", value);
		if (jemalloc_says("stats.arenas.4096.tcache_bytes", &value))
			printf("cached\t%zu\n", value);
	} else if (tcmalloc_says("generic.current_allocated_bytes", &value)) {
		printf("allocated\t%zu\n", value);
		if (tcmalloc_says("tcmalloc.current_total_thread_cache_bytes", &value) &&
		    tcmalloc_says("tcmalloc.transfer_cache_free_bytes", &waiting))
			printf("cached\t%zu\n", value + waiting);
	} else {
		mimalloc_says(&value);
		waiting += value;
		printf("visited\t%zu\n", waiting);
		printf("waiting\t%d\n", THREADS * HANDED);
	}
}

/* ---- threads ---- */

static void *thread(void *ctx)
{
	const size_t me = (size_t)ctx;

	for (int i = 0; i < HANDED; i++) {
		handed[me][i] = malloc(5000);
		free(malloc(100 + (size_t)i * 30));
	}
	pthread_barrier_wait(&made);
	mimalloc_says(&visited[me]);
	pthread_barrier_wait(&counted);
	pause();
	return NULL;
}

/* Where an allocator keeps the address of the next free block. */
static void write_after_free(void)
{
	volatile unsigned long *block = malloc(3000);

	free((void *)block);
	*block = 0x4141414141414141;
}

int main(int argc, char **argv)
{
	static char out[4096];
	size_t value;
	pthread_t t;

	setvbuf(stdout, out, _IOFBF, sizeof(out));
	/* a name that is not found costs memory, once */
	jemalloc_says("stats.allocated", &value);
	tcmalloc_says("generic.heap_size", &value);
	if (argc > 1 && !strcmp(argv[1], "churn"))
		churn();
	for (int i = 0; i < NR; i++)
		add_session(i);
	make_sizes();
	lose();
	wipe();
	pthread_barrier_init(&made, NULL, THREADS + 1);
	pthread_barrier_init(&counted, NULL, THREADS + 1);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&t, NULL, thread, (void *)i);
	pthread_barrier_wait(&made);
	pthread_barrier_wait(&counted);
	printf("handed\t%zu\n", malloc_usable_size(handed[0][0]));
	for (int i = 0; i < THREADS; i++)
		for (int k = 0; k < HANDED; k++) {
			free(handed[i][k]);
			handed[i][k] = NULL;
		}
	printf("kind\tpoints to session_operations at +16\t%d\n", NR);
	printf("holder\t`session_list`\t%d\n", 2 * NR);
	printf("holder\t`sizes_of_mine`\t64\n");
	printf("holder\t`large_blocks`\t8\n");
	printf("size\t%zu\t%d\n", malloc_usable_size(session_list), NR);
	printf("lost\t20\n");
	wipe();
	say();
	if (argc > 1 && !strcmp(argv[1], "broken"))
		write_after_free();
	printf("ready\n");
	fflush(stdout);
	pause();
	return 0;
}
