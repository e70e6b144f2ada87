// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_corpus SECONDS: programs whose truth is known, side by side in one process, for who
 * watches for SECONDS; until it is ended.  Each is a function of the table, whose blocks
 * are handed out below it, and which is called every 20 ms as evenly as the machine allows.
 *
 * wl_corpus truth: a line for each: its function, whether its blocks are lost (yes, no,
 * some), and the verdicts that are true, with | between.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FN		__attribute__((noinline, noclone))
#define STEP_MS		20
#define MANY		100000
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static unsigned long n, steps;	/* this step; of all of SECONDS */

/* The same everywhere, and so is each run. */
static unsigned int random_below(unsigned int below)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return (state >> 8) % below;
}

/* Nothing of it is left in a register or on the stack that is still used. */
static void *volatile gone;

static void lose(void *p)
{
	gone = p;
	gone = NULL;
}

/* ---- lost ---- */

FN static void case_leak_fast(void)
{
	for (int i = 0; i < 8; i++)
		lose(malloc(100));
}

FN static void case_leak_slow(void)
{
	if (n % (steps / 24) == 0)
		lose(malloc(100));
}

FN static void case_leak_large(void)
{
	if (n % 16 == 0)
		lose(malloc(60000));
}

FN static void case_leak_sizes(void)
{
	lose(malloc(1 + random_below(5000)));
}

FN static void case_leak_one_in_ten(void)
{
	void *p = malloc(64);

	if (n % 10)
		free(p);
	else
		lose(p);
}

FN static void case_leak_at_start(void)
{
	for (int i = 0; !n && i < 100; i++)
		lose(malloc(200));
}

FN static void case_leak_that_stops(void)
{
	if (n < steps / 3)
		lose(malloc(48));
}

/* More and more each time, as of a list that is copied before it grows. */
FN static void case_leak_faster(void)
{
	for (unsigned long i = 0; i < 1 + 8 * n / steps; i++)
		lose(malloc(32));
}

FN static void case_leak_in_bursts(void)
{
	for (int i = 0; n % (steps / 8) == 0 && i < 50; i++)
		lose(malloc(72));
}

struct ring {
	struct ring *next;
	char text[40];
};

/* Each has an address of another one, and nobody else has. */
FN static struct ring *ring(void)
{
	struct ring *first = malloc(sizeof(*first)), *last = first;

	for (int i = 0; i < 3; i++) {
		last->next = malloc(sizeof(*last));
		last = last->next;
	}
	last->next = first;
	return first;
}

FN static void case_leak_rings(void)
{
	lose(ring());
	__asm__ volatile("");
}

/* ---- all is kept ---- */

static void *volatile used_list[MANY];

FN static void case_grows_and_used(void)
{
	used_list[n % MANY] = calloc(1, 100);
	for (unsigned long i = 0; i < n && i < 50; i++)
		++*(volatile char *)used_list[n - i];
}

static void *volatile unread_list[MANY];

FN static void case_grows_unread(void)
{
	unread_list[n % MANY] = malloc(100);
}

static struct ring *volatile rings[MANY];

FN static void case_grows_rings(void)
{
	rings[n % MANY] = ring();
	__asm__ volatile("");
}

static char *volatile inside[MANY];

FN static void case_grows_inside(void)
{
	inside[n % MANY] = (char *)malloc(100) + 16;
}

static volatile uintptr_t low_tags[MANY];

FN static void case_grows_low_tag(void)
{
	low_tags[n % MANY] = (uintptr_t)malloc(80) | 1;
}

static volatile uintptr_t high_tags[MANY];

FN static void case_grows_high_tag(void)
{
	high_tags[n % MANY] = (uintptr_t)malloc(80) | 0xaULL << 60 | 0x5ULL << 48;
}

static void *volatile faster[20 * MANY];
static unsigned long nr_faster;

FN static void case_grows_faster(void)
{
	for (unsigned long i = 0; i < 1 + 8 * n / steps; i++)
		faster[nr_faster++ % ARRAY_SIZE(faster)] = malloc(32);
}

/* ---- bounded ---- */

static void *volatile start_up[200];

FN static void case_start_up(void)
{
	for (unsigned long i = 0; !n && i < ARRAY_SIZE(start_up); i++)
		start_up[i] = malloc(300);
}

static void *volatile pool[64];

/* Handed out again and again, without malloc. */
FN static void case_pool(void)
{
	for (unsigned long i = 0; !n && i < ARRAY_SIZE(pool); i++)
		pool[i] = malloc(512);
	memset(pool[n % ARRAY_SIZE(pool)], (int)n, 512);
}

static void *volatile arena[16];

/* Chunks are taken as it fills, and all given back together. */
FN static void case_arena(void)
{
	const unsigned long round = n % (steps / 7), every = steps / 7 / ARRAY_SIZE(arena);

	for (unsigned long i = 0; !round && i < ARRAY_SIZE(arena); i++) {
		free(arena[i]);
		arena[i] = NULL;
	}
	if (round % every == 0 && round / every < ARRAY_SIZE(arena))
		arena[round / every] = malloc(4096);
}

static void *volatile cache[150];

/* Any of its slots, at random, and twice each time. */
FN static void case_cache(void)
{
	for (int i = 0; i < 2; i++) {
		const unsigned int slot = random_below(ARRAY_SIZE(cache));

		free(cache[slot]);
		cache[slot] = malloc(150);
	}
}

static void *volatile lru[MANY];

/* Full after three fifths of the time; from then on the oldest goes. */
FN static void case_lru(void)
{
	const unsigned long slot = n % (steps * 3 / 5);

	free(lru[slot]);
	lru[slot] = malloc(120);
}

static void *volatile filled[MANY];

FN static void case_fills_once(void)
{
	if (n < steps * 3 / 5)
		filled[n] = malloc(120);
}

static void *volatile tooth[MANY];

/*
 * It is half full when all steps are done: of a few blocks nothing could be said.  (None, where
 * all that was there when it stood was given back before the report: the machine is busy.)
 */
FN static void case_sawtooth(void)
{
	const unsigned long most = steps * 2 / 9, round = n % most;

	for (unsigned long i = 0; !round && i < most; i++) {
		free(tooth[i]);
		tooth[i] = NULL;
	}
	tooth[round] = malloc(90);
}

static void *volatile pins[40], *volatile between[40];

/* What is kept is little and old, and lies between what goes. */
FN static void case_fragments(void)
{
	for (unsigned long i = 0; !n && i < ARRAY_SIZE(pins); i++) {
		between[i] = malloc(3000);
		pins[i] = malloc(24);
	}
	for (unsigned long i = 0; i < ARRAY_SIZE(between); i++)
		if (random_below(4) == 0) {
			free(between[i]);
			between[i] = malloc(1000 + random_below(4000));
		}
}

static void *volatile queue[MANY];

FN static void case_queue(void)
{
	const unsigned long slot = n % (steps / 4);

	free(queue[slot]);
	queue[slot] = malloc(200);
}

static void *volatile last;

FN static void case_churn(void)
{
	free(last);
	last = malloc(64);
}

static char *volatile vector;

FN static void case_vector(void)
{
	if (n % 10 == 0)
		vector = realloc(vector, 16 * (n + 1));
}

static void *volatile from_other;

FN static void case_handed_over(void)
{
	while (from_other)
		usleep(100);
	from_other = malloc(56);
}

/* ---- where addresses are ---- */

static __thread void **mine;

FN static void thread_local_one(unsigned long i)
{
	void **p = malloc(88);

	*p = mine;
	mine = p;
	(void)i;
}

FN static void *case_thread_local(void *arg)
{
	for (unsigned long i = 0;; i++) {
		thread_local_one(i);
		usleep(STEP_MS * 1000);
	}
	return arg;
}

FN static void **chain(int nr)
{
	void **first = NULL;

	while (nr--) {
		void **p = malloc(40);

		*p = first;
		first = p;
	}
	return first;
}

/* Of all of them only one register has an address, and it of the first one. */
FN static void *case_in_a_register(void *arg)
{
	void **head = chain(50);

#ifdef __x86_64__
	__asm__ volatile("mov %0, %%r12\n\txor %0, %0\n1:\tmov %1, %%eax\n\tsyscall\n\tjmp 1b"
			 : "+r" (head) : "i" (SYS_pause) : "rax", "rcx", "r11", "r12", "memory");
#endif
	for (;;) {
		usleep(1000);
		__asm__ volatile("" : : "r" (head));
	}
	return arg;
}

FN static void *case_on_a_stack(void *arg)
{
	void *volatile head = chain(50);

	for (;;)
		pause();
	free(head);
	return arg;
}

FN static void *taker(void *arg)
{
	for (;;) {
		void *p = from_other;

		if (p) {
			from_other = NULL;
			free(p);
		}
		usleep(100);
	}
	return arg;
}

#define KEPT	"growing, maybe a cache"

static const struct {
	const char *name;
	void (*step)(void);
	void *(*thread)(void *arg);
	const char *lost, *verdicts;
} cases[] = {
#define STEP(name, lost, verdicts)	{ #name, name, NULL, lost, verdicts }
#define THREAD(name, lost, verdicts)	{ #name, NULL, name, lost, verdicts }
	STEP(case_leak_fast, "yes", "leaking"),
	STEP(case_leak_slow, "yes", "leaking"),
	STEP(case_leak_large, "yes", "leaking"),
	STEP(case_leak_sizes, "yes", "leaking"),
	STEP(case_leak_one_in_ten, "yes", "leaking"),
	STEP(case_leak_at_start, "yes", "lost"),
	STEP(case_leak_that_stops, "yes", "lost"),
	STEP(case_leak_faster, "yes", "leaking"),
	STEP(case_leak_in_bursts, "yes", "leaking"),
	STEP(case_leak_rings, "yes", "leaking"),
	STEP(case_grows_and_used, "no", KEPT),
	STEP(case_grows_unread, "no", KEPT),
	STEP(case_grows_rings, "no", KEPT),
	STEP(case_grows_inside, "no", KEPT "|growing"),
	STEP(case_grows_low_tag, "no", KEPT "|growing"),
	STEP(case_grows_high_tag, "no", KEPT "|growing"),
	STEP(case_grows_faster, "no", KEPT),
	STEP(case_start_up, "no", "start-up"),
	STEP(case_pool, "no", "start-up"),
	STEP(case_arena, "no", "bounded|churn|too early to say|none"),
	STEP(case_cache, "no", "bounded|churn|turnover|shrinking"),
	STEP(case_lru, "no", "bounded|plateau"),
	STEP(case_fills_once, "no", "plateau"),
	STEP(case_sawtooth, "no", "bounded|churn|none"),
	STEP(case_fragments, "no", "start-up|churn|bounded|too early to say"),
	STEP(case_queue, "no", "bounded"),
	STEP(case_churn, "no", "churn|too early to say|none"),
	STEP(case_vector, "no", KEPT "|growing|too early to say|churn|start-up|none"),
	STEP(case_handed_over, "no", "churn|too early to say|none"),
	THREAD(case_thread_local, "no", KEPT),
	THREAD(case_in_a_register, "no", "start-up"),
	THREAD(case_on_a_stack, "no", "start-up"),
	{ "taker", NULL, taker, NULL, NULL },
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void put_truth(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (cases[i].lost)
			printf("%s\t%s\t%s\n", cases[i].name, cases[i].lost, cases[i].verdicts);
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 20, begin = now();
	const struct timespec step = { 0, STEP_MS * 1000000L };
	pthread_t thread;

	if (argc > 1 && !strcmp(argv[1], "truth")) {
		put_truth();
		return 0;
	}
	steps = (unsigned long)(seconds * 1000 / STEP_MS);
	if (steps < 160)
		return 2;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (cases[i].thread && pthread_create(&thread, NULL, cases[i].thread, NULL))
			return 1;
	for (;; n++) {
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
			if (cases[i].step)
				cases[i].step();
		/* what a stall of the machine has cost is made up for */
		while (now() < begin + (double)n * STEP_MS / 1000)
			nanosleep(&step, NULL);
	}
}
