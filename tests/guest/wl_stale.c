// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_stale: takes pages and blocks in functions of its own, and then uses some of them for ever,
 * and others never again.  "ready"; with SIGUSR1 it takes them, and says "FUNCTION PAGES" of
 * pages and "FUNCTION blocks BYTES" of blocks that are stale from then on, and "taken"; with
 * SIGUSR2 it ends, and a child, too, that shares some of its pages and uses other ones.
 * wl_stale split: for kernels that split huge pages where they clear accessed bits.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FN	__attribute__((noinline, noclone, used))
#define PAGE	4096UL
#define HUGE	512UL
#define BLOCKS	64
#define SIZE	(4 * PAGE)

static volatile char *used, *busy, *forgotten, *half, *huge_used, *huge_forgotten, *shared;
static volatile char *cache[BLOCKS], *dead[BLOCKS];
static volatile int over;
static int split;		/* huge pages are: each page of one counts */
static volatile char sink;

static volatile char *map(unsigned long pages, int advice)
{
	unsigned long align = advice == MADV_HUGEPAGE ? HUGE * PAGE : PAGE;
	char *at = mmap(NULL, pages * PAGE + align, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(1);
	at = (char *)(((unsigned long)at + align - 1) & ~(align - 1));
	madvise(at, pages * PAGE, advice);
	return at;
}

#define TAKE(_name)							\
static FN void _name(volatile char *at, unsigned long pages)		\
{									\
	for (unsigned long i = 0; i < pages; i++)			\
		at[i * PAGE] = 1;					\
	__asm__ volatile("" ::: "memory");				\
}

TAKE(stale_used)
TAKE(stale_busy)
TAKE(stale_forgotten)
TAKE(stale_half)
TAKE(stale_huge_used)
TAKE(stale_huge_forgotten)
TAKE(stale_shared)

/* Blocks of whole pages: none shares one with what is used. */
static FN void stale_cache(void)
{
	for (int i = 0; i < BLOCKS; i++)
		cache[i] = memset(aligned_alloc(PAGE, SIZE), 1, SIZE);
}

static FN void stale_dead(void)
{
	for (int i = 0; i < BLOCKS; i++)
		dead[i] = memset(aligned_alloc(PAGE, SIZE), 1, SIZE);
}

static void use(volatile char *at, unsigned long pages)
{
	for (unsigned long i = 0; i < pages; i++)
		sink += at[i * PAGE];
}

/* It never leaves its processor of its own will: the page stays in the cache of translations. */
static void *spins(void *arg)
{
	while (!over)
		sink += busy[0];
	return arg;
}

static void use_all(void)
{
	use(used, 100);
	use(half, 50);
	use(huge_used, split ? HUGE : 1);
	for (int i = 0; i < BLOCKS; i++)
		use(cache[i], SIZE / PAGE);
}

static void child(void)
{
	for (;;) {
		use(shared, 32);
		usleep(20000);
	}
}

static void on_over(int sig)
{
	over = sig;
}

int main(int argc, char **argv)
{
	sigset_t set;
	pid_t pid;
	pthread_t t;
	int sig;

	split = argc > 1 && !strcmp(argv[1], "split");
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGUSR2, on_over);
	used = map(100, MADV_NOHUGEPAGE);
	busy = map(1, MADV_NOHUGEPAGE);
	forgotten = map(200, MADV_NOHUGEPAGE);
	half = map(100, MADV_NOHUGEPAGE);
	shared = map(32, MADV_NOHUGEPAGE);
	huge_used = map(HUGE, MADV_HUGEPAGE);
	huge_forgotten = map(HUGE, MADV_HUGEPAGE);
	puts("ready");
	sigwait(&set, &sig);
	stale_used(used, 100);
	stale_busy(busy, 1);
	stale_forgotten(forgotten, 200);
	stale_half(half, 100);
	stale_shared(shared, 32);
	stale_huge_used(huge_used, HUGE);
	stale_huge_forgotten(huge_forgotten, HUGE);
	stale_cache();
	stale_dead();
	printf("stale_forgotten 200\nstale_half 50\nstale_shared 32\nstale_huge_forgotten %lu\n",
	       HUGE);
	printf("stale_dead %d %lu\n", BLOCKS, BLOCKS * SIZE);
	pid = fork();
	if (!pid)
		child();
	pthread_create(&t, NULL, spins, NULL);
	use_all();
	puts("taken");
	while (!over) {
		use_all();
		usleep(20000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	pthread_join(t, NULL);
	return 0;
}
