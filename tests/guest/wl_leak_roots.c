// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_leak_roots CASE: forty blocks of 100 bytes, by take_forty(), and what the program
 * has of them at its end lies in one place that is easily overlooked; or in none, but
 * where somebody left it.  Made without optimization: what is said to be on the stack
 * is there.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FN	__attribute__((noinline, noclone))
#define NR	40
#define SIZE	100
#define LEN	(256 << 10)

static volatile int ready;

FN static void take_forty(void *volatile *to)
{
	int i;

	for (i = 0; i < NR; i++)
		to[i] = malloc(SIZE);
}

/* What the calls left on the stack. */
FN static void wipe(void)
{
	volatile char room[16384];
	size_t i;

	for (i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

/* ---- threads ---- */

/* It computes until the end, and has its blocks in variables of its own. */
static void *compute(void *arg)
{
	void *volatile mine[NR];

	(void)arg;
	take_forty(mine);
	ready = 1;
	for (;;)
		;
	return mine[0];
}

/* The list of them, of which only a register has the address. */
static void **list(void)
{
	void **first = malloc(NR * sizeof(*first));

	take_forty(first);
	return first;
}

static void *compute_in_register(void *arg)
{
	register void **p __asm__("r12") = list();

	(void)arg;
	wipe();
	ready = 1;
	__asm__ volatile("1:\tpause\n\tjmp 1b" : "+r"(p));
	return NULL;
}

/* Sleeps in the kernel; nothing of the program is on its way there. */
static void *sleep_in_register(void *arg)
{
	register void **p __asm__("r12") = list();

	(void)arg;
	wipe();
	ready = 1;
	__asm__ volatile("1:\tmov %1, %%eax\n\tsyscall\n\tjmp 1b" : "+r"(p)
			 : "i"(SYS_pause) : "rax", "rcx", "r11", "memory");
	return NULL;
}

static void start(void *(*run)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, run, NULL))
		abort();
	while (!ready)
		usleep(1000);
	usleep(50000);
	wipe();
}

static void busy(void) { start(compute); }
static void busy_register(void) { start(compute_in_register); }
static void asleep_register(void) { start(sleep_in_register); }

/* ---- memory that the program takes itself ---- */

static void **mine;

static void sbrk_behind(void)
{
	void *first = malloc(1);

	mine = sbrk(4096);
	free(first);
	take_forty(mine);
}

/* malloc has to go on behind it. */
static void sbrk_between(void)
{
	void *first = malloc(1), *volatile more[8];
	int i;

	mine = sbrk(4096);
	free(first);
	for (i = 0; i < 8; i++)
		more[i] = malloc(60000);
	take_forty(mine);
	for (i = 0; i < 8; i++)
		free(more[i]);
}

static void sbrk_before(void)
{
	mine = sbrk(8192);
	take_forty(mine);
}

static void share(int fd, int flags)
{
	mine = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);
	if (mine == MAP_FAILED)
		abort();
	take_forty(mine + 1000);
	madvise(mine, LEN, MADV_DONTNEED);
}

static void shared(void) { share(-1, MAP_ANONYMOUS); }

static void shared_file(void)
{
	char name[] = "/var/tmp/leak-XXXXXX";
	const int fd = mkstemp(name);

	if (fd < 0 || unlink(name) || ftruncate(fd, LEN))
		abort();
	share(fd, 0);
}

static void shared_memfd(void)
{
	const int fd = memfd_create("leak", 0);

	if (fd < 0 || ftruncate(fd, LEN))
		abort();
	share(fd, 0);
}

/* The program has taken its own right to read them away, for the time being. */
static void protected(void)
{
	static void *block;

	if (posix_memalign(&block, 4096, 8192))
		exit(3);
	take_forty(block);
	wipe();
	if (mprotect(block, 8192, PROT_NONE))
		exit(3);
}

static void shared_sysv(void)
{
	const int id = shmget(IPC_PRIVATE, LEN, 0600);

	mine = shmat(id, NULL, 0);
	if (id < 0 || mine == (void *)-1)
		abort();
	shmctl(id, IPC_RMID, NULL);
	take_forty(mine + 1000);
	madvise(mine, LEN, MADV_DONTNEED);
}

/* ---- the stack of who ends the program ---- */

/* An array that nobody has any more, below the frame that calls exit(). */
FN static void leave(void)
{
	void *volatile a[NR];

	take_forty(a);
}

static void stale(void)
{
	leave();
}

FN static void ends(void)
{
	exit(0);
}

/* Where it was called from, it is in a register, which exit() and others have saved. */
static void in_register(void)
{
	register void **p __asm__("rbx") = list();

	wipe();
	__asm__ volatile("" : "+r"(p));
	ends();
	__asm__ volatile("" : : "r"(p));
}

/* A handler has them, and ends the program itself. */
static void handler(void)
{
	void *volatile a[NR];

	take_forty(a);
	wipe();
	_exit(0);
}

static void in_handler(void)
{
	atexit(handler);
}

/* ---- ld.so ---- */

static void *keep[8];

/* It has a block for where code lies, whose beginning is a multiple of 64 by chance only. */
static void dlopens(void)
{
	static const char *const names[] = { "libresolv.so.2", "libutil.so.1", "libanl.so.1" };
	size_t i;

	for (i = 0; i < 3; i++)
		keep[i] = malloc(8);
	for (i = 0; i < 3; i++)
		keep[3 + i] = dlopen(names[i], RTLD_NOW);
	mine = malloc(NR * sizeof(*mine));
	take_forty(mine);
}

/* ---- others ---- */

static void lose_mapping(void)
{
	void *volatile p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	p = NULL;
	(void)p;
}

static void free_inside(void)
{
	char *volatile p = malloc(64);

	free(p + 16);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "busy", busy }, { "busy-register", busy_register },
	{ "asleep-register", asleep_register }, { "sbrk-behind", sbrk_behind },
	{ "sbrk-between", sbrk_between }, { "sbrk-before", sbrk_before }, { "shared", shared },
	{ "shared-file", shared_file }, { "shared-memfd", shared_memfd },
	{ "shared-sysv", shared_sysv }, { "stale", stale }, { "in-register", in_register },
	{ "in-handler", in_handler }, { "dlopen", dlopens }, { "mapping", lose_mapping },
	{ "inside", free_inside }, { "protected", protected },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(cases[i].name, argv[1]))
			continue;
		cases[i].run();
		if (cases[i].run != stale)
			wipe();
		return 0;
	}
	return 2;
}
