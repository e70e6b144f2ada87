// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_load MODE [ARGS]: one part of a load, as fast as it goes, until SIGTERM.  Each
 * checks what it wrote and was told: it ends with 1 when anything of that is not so.
 *
 *	faults		page faults, at the bottom of 1 to 64 frames, in two threads
 *	heap		malloc() and its like, in three threads
 *	maps		mmap(), mremap(), munmap(), mprotect(), brk()
 *	files FILE MIB	writes, reads, and maps a file
 *	grow MIB	goes through so much memory again and again
 *	pipes		two processes, a pipe and a socket
 *	forks		processes by the thousand: some only fork, others do "short"
 *	short		a program that is soon over: a library, some blocks, some pages
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE		4096UL
#define DEPTHS		64
#define LIBRARY		"./wl_load_lib.so"
#define APART		__attribute__((noipa, used))

static volatile sig_atomic_t ends;

static void on_term(int sig __attribute__((unused)))
{
	ends = 1;
}

static void wrong(const char *what)
{
	fprintf(stderr, "wl_load: %s\n", what);
	_exit(1);
}

static uint32_t chance(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static char *map_pages(unsigned long nr)
{
	char *p = mmap(NULL, nr * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		wrong("mmap");
	return p;
}

/* ---- faults ---- */

#define TOUCHED		8

/* One probe with its return can stand here: what is called most. */
APART int wl_bottom(char *page)
{
	int i, sum = 0;

	for (i = 0; i < TOUCHED; i++)
		page[i * PAGE] = i + 1;
	for (i = 0; i < TOUCHED; i++)
		sum += page[i * PAGE];
	if (madvise(page, TOUCHED * PAGE, MADV_DONTNEED))
		wrong("madvise");
	return sum;
}

/* Frames of several sizes, so that no two depths look alike. */
APART int wl_deep(int left, char *page)
{
	volatile char room[16 + (left % 5) * 24];

	room[0] = left;
	if (!left)
		return wl_bottom(page);
	return wl_deep(left - 1, page) + (room[0] == (char)left);
}

static void *faults(void *unused)
{
	char *page = map_pages(TOUCHED);
	int depth = 0;

	while (!ends) {
		depth = (depth + 7) % DEPTHS;
		if (wl_deep(depth, page) != depth + TOUCHED * (TOUCHED + 1) / 2)
			wrong("a function returned something else");
	}
	return unused;
}

/* ---- heap ---- */

#define SLOTS		512
#define LARGE		200000

struct slot {
	unsigned char *at;
	size_t size;
	unsigned char mark;
};

static void check_slot(const struct slot *s)
{
	if (s->at && (s->at[0] != s->mark || s->at[s->size - 1] != s->mark))
		wrong("a block has another's bytes");
}

static void fill_slot(struct slot *s, unsigned char *p, size_t size, uint32_t mark)
{
	if (!p)
		wrong("malloc");
	*s = (struct slot){ p, size, mark };
	p[0] = p[size - 1] = s->mark;
}

APART void wl_change(struct slot *s, uint32_t r)
{
	const size_t size = 1 + (r >> 8) % 2000 + (r % 251 ? 0 : LARGE);

	check_slot(s);
	switch (r & 3) {
	case 0:
		free(s->at);
		fill_slot(s, malloc(size), size, r);
		break;
	case 1:
		free(s->at);
		fill_slot(s, calloc(1, size), size, r);
		break;
	case 2:
		fill_slot(s, realloc(s->at, size), size, r);
		break;
	default:
		free(s->at);
		s->at = NULL;
	}
}

APART void wl_change_deep(int left, struct slot *s, uint32_t r)
{
	if (left)
		wl_change_deep(left - 1, s, r);
	else
		wl_change(s, r);
	/* no jump instead of a call */
	__asm__ volatile("");
}

static void *heap(void *seed)
{
	static __thread struct slot slots[SLOTS];
	uint32_t r = 1 + (uintptr_t)seed, i;

	while (!ends) {
		chance(&r);
		wl_change_deep((r >> 20) % 16, &slots[(r >> 3) % SLOTS], r);
	}
	for (i = 0; i < SLOTS; i++) {
		check_slot(&slots[i]);
		free(slots[i].at);
	}
	return NULL;
}

static void in_threads(void *(*fn)(void *), int nr)
{
	pthread_t t[4];
	long i;

	for (i = 0; i < nr; i++)
		if (pthread_create(&t[i], NULL, fn, (void *)i))
			wrong("pthread_create");
	for (i = 0; i < nr; i++)
		pthread_join(t[i], NULL);
}

/* ---- maps ---- */

APART void wl_map(uint32_t r)
{
	const unsigned long nr = 2 + r % 30, more = 2 + (r >> 8) % 30;
	char *p = map_pages(nr);

	p[0] = p[(nr - 1) * PAGE] = r;
	p = mremap(p, nr * PAGE, more * PAGE, MREMAP_MAYMOVE);
	if (p == MAP_FAILED || p[0] != (char)r)
		wrong("mremap");
	if (mprotect(p + PAGE, PAGE, r & 1 ? PROT_READ : PROT_NONE) ||
	    munmap(p + PAGE, (more - 1) * PAGE) || munmap(p, PAGE))
		wrong("munmap");
}

APART void wl_brk(uint32_t r)
{
	const long bytes = (1 + r % 8) * PAGE;
	char *p = sbrk(bytes);

	if (p == (void *)-1)
		wrong("brk");
	p[bytes - 1] = 1;
	if (sbrk(-bytes) == (void *)-1)
		wrong("brk");
}

static void maps(void)
{
	uint32_t r = 77;

	while (!ends) {
		wl_map(chance(&r));
		wl_brk(chance(&r));
	}
}

/* ---- memory that somebody takes back ---- */

static void files(const char *name, unsigned long mib)
{
	const unsigned long nr = mib << 20 >> 12;
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	uint32_t page[PAGE / 4], r = 5;
	volatile uint32_t *map;
	unsigned long i;

	for (i = 0; i < nr; i++) {
		memset(page, i, sizeof(page));
		if (write(fd, page, PAGE) != (ssize_t)PAGE)
			wrong("write");
	}
	map = mmap(NULL, nr * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		wrong("mmap of a file");
	while (!ends) {
		i = chance(&r) % nr;
		if (pread(fd, page, PAGE, i * PAGE) != (ssize_t)PAGE || page[7] != page[900] ||
		    map[i * (PAGE / 4)] != page[0] || (page[0] & 255) != (i & 255))
			wrong("a file has other bytes");
		if (!(r & 4095))
			posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	}
}

static void grow(unsigned long mib)
{
	const unsigned long nr = mib << 20 >> 12;
	volatile unsigned long *at = (void *)map_pages(nr);
	unsigned long i, round = 0;

	for (; !ends; round++)
		for (i = 0; i < nr && !ends; i++) {
			if (round && at[i * (PAGE / 8)] != i + round - 1)
				wrong("memory came back with other bytes");
			at[i * (PAGE / 8)] = i + round;
		}
}

/* ---- processes ---- */

static void echo_all(int in, int out)
{
	char buf[512];
	ssize_t n;

	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, n) != n)
			_exit(1);
	_exit(0);
}

static void pipes(void)
{
	int there[2], back[2], status;
	unsigned long i, got;
	pid_t pid;

	if (pipe(there) || socketpair(AF_UNIX, SOCK_STREAM, 0, back))
		wrong("pipe");
	pid = fork();
	if (!pid) {
		close(there[1]);
		close(back[1]);
		echo_all(there[0], back[0]);
	}
	for (i = 0; !ends; i++)
		if (write(there[1], &i, sizeof(i)) != sizeof(i) ||
		    read(back[1], &got, sizeof(got)) != sizeof(got) || got != i)
			wrong("an echo is another");
	close(there[1]);
	if (waitpid(pid, &status, 0) != pid || status)
		wrong("the echo ended badly");
}

static int use_library(void)
{
	void *lib = dlopen(LIBRARY, RTLD_NOW);
	int (*sum)(int) = lib ? (int (*)(int))dlsym(lib, "wl_load_sum") : NULL;

	if (!sum || sum(20) != 210)
		wrong("a library computes something else");
	return dlclose(lib);
}

static int short_program(void)
{
	char *page = map_pages(TOUCHED);
	struct slot s = { NULL };
	uint32_t r = getpid();
	int i;

	for (i = 0; i < 40; i++)
		wl_change_deep(i % 16, &s, chance(&r));
	free(s.at);
	return wl_deep(20, page) != 20 + TOUCHED * (TOUCHED + 1) / 2 || use_library();
}

static void forks(void)
{
	char *page = map_pages(TOUCHED);
	unsigned long i;
	int status;
	pid_t pid;

	for (i = 0; !ends; i++) {
		pid = fork();
		if (!pid && i % 2)
			_exit(wl_deep(9, page) != 9 + TOUCHED * (TOUCHED + 1) / 2);
		if (!pid) {
			execl("/proc/self/exe", "wl_load", "short", NULL);
			_exit(2);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			wrong("a short process ended badly");
	}
}

int main(int argc, char **argv)
{
	const struct sigaction act = { .sa_handler = on_term, .sa_flags = SA_RESTART };
	const char *mode = argc > 1 ? argv[1] : "";

	sigaction(SIGTERM, &act, NULL);
	if (!strcmp(mode, "faults"))
		in_threads(faults, 2);
	else if (!strcmp(mode, "heap"))
		in_threads(heap, 3);
	else if (!strcmp(mode, "maps"))
		maps();
	else if (!strcmp(mode, "files") && argc == 4)
		files(argv[2], atoi(argv[3]));
	else if (!strcmp(mode, "grow") && argc == 3)
		grow(atoi(argv[2]));
	else if (!strcmp(mode, "pipes"))
		pipes();
	else if (!strcmp(mode, "forks"))
		forks();
	else if (!strcmp(mode, "short"))
		return short_program();
	else
		return 2;
	return 0;
}
