// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocate and free, and know what lived when most did, by function: of each process, and of
 * both.  Each call and its account are one step under a mutex, so that calls have one order.
 *
 *	wl_peak one SEED	one thread
 *	wl_peak threads SEED	four threads, which free what others have allocated
 *	wl_peak fork SEED	two processes; the second one ends with blocks, then the first has
 *				more than both had before (SEED odd) or less (even)
 *	wl_peak temporary	by the next call of the thread, or not
 *
 * Lines: "WHOSE<TAB>FUNCTION<TAB>BLOCKS<TAB>BYTES", WHOSE: all, first, second; then
 * "temporary<TAB>FUNCTION<TAB>TEMPORARY<TAB>ALLOCATED".
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WL_FN __attribute__((noinline, noclone))

enum { FUNCTIONS = 6, BLOCKS = 300, STEPS = 4000, THREADS = 4 };

struct had {
	unsigned long blocks, bytes;
};

struct block {
	char *at;
	size_t size;
	int function;
};

static struct account {
	pthread_mutex_t mutex;
	struct had now[2][FUNCTIONS], peak[2][FUNCTIONS], all_peak[2][FUNCTIONS];
	unsigned long live[2], most[2], all_live, all_most;
} *acc;

static struct block blocks[BLOCKS];	/* of this process */
static int process;
static pthread_barrier_t barrier;
static volatile int sink;

#define FUNCTION(n) \
static WL_FN char *wl_peak_##n(char *was, size_t size) \
{ \
	char *p = was ? realloc(was, size) : n % 2 ? calloc(1, size) : malloc(size); \
\
	sink++; \
	return p; \
}
FUNCTION(0)
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)
FUNCTION(5)

static char *(*const functions[FUNCTIONS])(char *, size_t) = {
	wl_peak_0, wl_peak_1, wl_peak_2, wl_peak_3, wl_peak_4, wl_peak_5,
};

static unsigned long next_random(unsigned long *state)
{
	*state = *state * 6364136223846793005UL + 1442695040888963407UL;
	return *state >> 24;
}

static void came(int f, size_t size)
{
	acc->now[process][f].blocks++;
	acc->now[process][f].bytes += size;
	acc->live[process] += size;
	acc->all_live += size;
	if (acc->live[process] > acc->most[process]) {
		acc->most[process] = acc->live[process];
		memcpy(acc->peak[process], acc->now[process], sizeof(acc->now[0]));
	}
	if (acc->all_live > acc->all_most) {
		acc->all_most = acc->all_live;
		memcpy(acc->all_peak, acc->now, sizeof(acc->now));
	}
}

static void went(const struct block *b)
{
	acc->now[process][b->function].blocks--;
	acc->now[process][b->function].bytes -= b->size;
	acc->live[process] -= b->size;
	acc->all_live -= b->size;
}

static void get(struct block *b, int f, size_t size)
{
	char *p = functions[f](b->at, size);

	if (!p)
		abort();
	if (b->at)
		went(b);
	came(f, size);
	*b = (struct block){ p, size, f };
}

static void put(struct block *b)
{
	free(b->at);
	went(b);
	b->at = NULL;
}

/* More come than go, then more go: several times, higher and lower. */
static void step(unsigned long *state, int i)
{
	const unsigned long r = next_random(state);
	struct block *b = &blocks[r % BLOCKS];
	const int rising = i / 500 % 2 == 0, f = (int)(r >> 12) % FUNCTIONS;
	const size_t size = 1 + (r >> 16) % (i / 1000 % 2 ? 2000 : 5000);

	pthread_mutex_lock(&acc->mutex);
	if (b->at && (r >> 28) % 8 == 0)
		get(b, f, size);
	else if (b->at && (!rising || (r >> 32) % 8 == 0))
		put(b);
	else if (!b->at && (rising || (r >> 36) % 8 == 0))
		get(b, f, size);
	pthread_mutex_unlock(&acc->mutex);
}

static void *run(void *arg)
{
	unsigned long state = (unsigned long)arg;

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < STEPS; i++)
		step(&state, i);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void tell(const char *whose, const struct had *had)
{
	for (int f = 0; f < FUNCTIONS; f++)
		if (had[f].blocks)
			printf("%s\twl_peak_%d\t%lu\t%lu\n", whose, f, had[f].blocks,
			       had[f].bytes);
}

static void tell_all(void)
{
	struct had sum[FUNCTIONS];

	for (int f = 0; f < FUNCTIONS; f++) {
		sum[f].blocks = acc->all_peak[0][f].blocks + acc->all_peak[1][f].blocks;
		sum[f].bytes = acc->all_peak[0][f].bytes + acc->all_peak[1][f].bytes;
	}
	tell("all", sum);
	tell("first", acc->peak[0]);
	tell("second", acc->peak[1]);
}

static void run_threads(unsigned long seed)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (unsigned long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)(seed * THREADS + i + 1));
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	tell_all();
	fflush(stdout);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* The copy does not know what was there before. */
static void second(unsigned long seed)
{
	unsigned long state = seed + 100;

	process = 1;
	memset(blocks, 0, sizeof(blocks));
	for (int i = 0; i < STEPS + 400; i++)	/* it ends when it has many */
		step(&state, i);
	_exit(0);
}

static void run_fork(unsigned long seed)
{
	unsigned long state = seed;
	pid_t child;

	for (int i = 0; i < STEPS; i++)
		step(&state, i);
	fflush(stdout);
	child = fork();
	if (!child)
		second(seed);
	for (int i = 0; i < STEPS; i++)
		step(&state, i);
	waitpid(child, NULL, 0);
	acc->all_live -= acc->live[1];
	memset(acc->now[1], 0, sizeof(acc->now[1]));
	for (int i = 0; i < BLOCKS; i++)
		if (blocks[i].at)
			put(&blocks[i]);
	for (int i = 0; i < BLOCKS; i++)
		get(&blocks[i], i % FUNCTIONS, seed % 2 ? 20000 : 2000);
	tell_all();
}

static WL_FN void wl_temporary_all(void)
{
	for (int i = 0; i < 500; i++) {
		char *p = malloc(10 + i % 7);

		sink += *(volatile char *)&p;
		free(p);
	}
}

/* The second one of each pair is the last that was allocated. */
static WL_FN void wl_temporary_pairs(void)
{
	for (int i = 0; i < 100; i++) {
		char *volatile p = malloc(100), *volatile q = malloc(100);

		free(p);
		free(q);
	}
}

static WL_FN void wl_temporary_none(void)
{
	static char *volatile kept[100];

	for (int i = 0; i < 100; i++)
		kept[i] = malloc(50);
	for (int i = 0; i < 99; i++)
		free(kept[i]);
	free(malloc(1));
	free(kept[99]);
}

/* What was moved was the last one each time, but for the end. */
static WL_FN void wl_temporary_grown(void)
{
	char *volatile p = malloc(8), *volatile last;

	for (int i = 1; i <= 20; i++)
		p = realloc(p, 8 + 100 * i);
	last = malloc(1);
	free(p);
	free(last);
}

static void *free_it(void *p)
{
	free(p);
	return NULL;
}

static WL_FN void wl_in_thread(void *p)
{
	pthread_t thread;

	pthread_create(&thread, NULL, free_it, p);
	pthread_join(thread, NULL);
	sink++;
}

/* Another thread frees it, which has allocated nothing. */
static WL_FN void wl_temporary_other(void)
{
	for (int i = 0; i < 20; i++)
		wl_in_thread(malloc(70));
}

static void *nothing(void *p)
{
	return p;
}

static void run_temporary(void)
{
	pthread_t thread;

	/* libc allocates for a process's first thread, and keeps that for the others */
	pthread_create(&thread, NULL, nothing, NULL);
	pthread_join(thread, NULL);
	wl_temporary_all();
	wl_temporary_pairs();
	wl_temporary_none();
	wl_temporary_grown();
	wl_temporary_other();
	printf("temporary\twl_temporary_all\t500\t500\n"
	       "temporary\twl_temporary_grown\t21\t22\n"
	       "temporary\twl_temporary_none\t1\t101\n"
	       "temporary\twl_temporary_other\t0\t20\n"
	       "temporary\twl_temporary_pairs\t100\t200\n");
}

int main(int argc, char **argv)
{
	const unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	static char buf[BUFSIZ];
	pthread_mutexattr_t shared;
	unsigned long state = seed;

	if (argc < 2)
		return 2;
	/* stdio would allocate one */
	setvbuf(stdout, buf, _IOFBF, sizeof(buf));
	acc = mmap(NULL, sizeof(*acc), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&acc->mutex, &shared);
	if (!strcmp(argv[1], "threads")) {
		run_threads(seed);
	} else if (!strcmp(argv[1], "fork")) {
		run_fork(seed);
	} else if (!strcmp(argv[1], "temporary")) {
		run_temporary();
	} else {
		for (int i = 0; i < STEPS; i++)
			step(&state, i);
		tell_all();
	}
	return 0;
}
