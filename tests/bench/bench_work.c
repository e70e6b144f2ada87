// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench_work KIND [THREADS [STACKS [DEPTH]]]: work on demand.  For each "run N" on
 * stdin, N events in each thread, and on stdout
 *
 *	R wall-ns processor-ns events minor-faults
 *
 * between begin and end of the events alone.  Under -icount, wall-ns are the
 * instructions of the whole machine.  "READY pid" comes first.
 *
 * Kinds: faults, shallow, deep; growth; pairs; seeks (calls of lseek(), and then so many turns
 * for others that who prints them has done so); pipes, sockets, files, forks; many,
 * many-mallocs (STACKS different stacks, DEPTH frames below main's); nothing.
 * Where memory is short, events are what the kernel counts: swapins (of pages that were sent
 * there), swapping and ooms (at the limit of the memory cgroups /bench-swap and /bench-oom);
 * reclaims, compactions, shrinks are tracepoints that bench_floor.ko passes.
 * Paths are pa_10 <- pa_9 <- ... <- pa_1, and of pb, pc and so on; those that touch
 * pages pa_10t, those to malloc() pa_10m.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE	__attribute__((noipa))
#define INLINE		inline __attribute__((always_inline))
#define STAY		__asm__ volatile("" ::: "memory")
#define PAGE		4096L
#define RING		64
#define THREADS		16

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif

struct thread {
	pthread_t id;
	unsigned int nr;
	unsigned long n;	/* events of this round */
	char *pages;
	void *ring[RING];
};

struct kind {
	const char *name;
	void (*work)(struct thread *t);
	unsigned int events;	/* for each of n */
	unsigned int faults;	/* pages needed for each of n */
	const char *counters;	/* of /proc/vmstat, that count them; or NULL */
	bool swapped;		/* the pages are in swap */
};

static pthread_barrier_t start, end;
static unsigned long stacks = 1;
static unsigned int depth = 18;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/*
 * Eight paths of ten functions, of these parameters; the innermost has leaf in it.  The
 * names end in a letter for each kind of path.
 */
#define LAST(p, s, ret, params, leaf) static NOINLINE ret p##_10##s params { leaf }
#define STEP(p, s, at, next, ret, params, args) static NOINLINE ret p##_##at##s params \
{ ret r = p##_##next##s args; STAY; return r; }
#define PATH(p, s, ret, params, args, leaf) LAST(p, s, ret, params, leaf) \
	STEP(p, s, 9, 10, ret, params, args) STEP(p, s, 8, 9, ret, params, args) \
	STEP(p, s, 7, 8, ret, params, args) STEP(p, s, 6, 7, ret, params, args) \
	STEP(p, s, 5, 6, ret, params, args) STEP(p, s, 4, 5, ret, params, args) \
	STEP(p, s, 3, 4, ret, params, args) STEP(p, s, 2, 3, ret, params, args) \
	STEP(p, s, 1, 2, ret, params, args)
#define PATHS(s, ...) \
	PATH(pa, s, __VA_ARGS__) PATH(pb, s, __VA_ARGS__) PATH(pc, s, __VA_ARGS__) \
	PATH(pd, s, __VA_ARGS__) PATH(pe, s, __VA_ARGS__) PATH(pf, s, __VA_ARGS__) \
	PATH(pg, s, __VA_ARGS__) PATH(ph, s, __VA_ARGS__)
#define TABLE(s) { pa_1##s, pb_1##s, pc_1##s, pd_1##s, pe_1##s, pf_1##s, pg_1##s, ph_1##s }

/* Page faults.  What calls nobody gets no frame of its own, unless it needs room. */
static INLINE void touch(char *pages, size_t nr)
{
	volatile char room[256];

	room[0] = 1;
	for (size_t i = 0; i < nr; i++)
		((volatile char *)pages)[i * PAGE] = room[0];
}
PATHS(t, int, (char *pages, size_t nr), (pages, nr), touch(pages, nr); return 0;)
static int (*const touches[8])(char *pages, size_t nr) = TABLE(t);

static NOINLINE void faults(struct thread *t)
{
	const size_t nr = t->n / 4;

	for (size_t i = 0; i < 4; i++)
		touches[i](t->pages + i * nr * PAGE, i == 3 ? t->n - 3 * nr : nr);
	STAY;
}
static NOINLINE void shallow(struct thread *t)
{
	touch(t->pages, t->n);
	STAY;
}
static NOINLINE void descend(struct thread *t, int left)
{
	volatile long room[4];

	room[0] = left;
	if (left)
		descend(t, left - 1);
	else
		faults(t);
	room[1] = room[0];
}
static NOINLINE void deep(struct thread *t)
{
	descend(t, 30);
	STAY;
}

/* What else happens at the end of a path. */
typedef void *(*act)(struct thread *t);

PATHS(, void *, (act f, struct thread *t), (f, t), void *r = f(t); STAY; return r;)
static void *(*const paths[8])(act f, struct thread *t) = TABLE();

/* The heap and mappings: four calls, of which three are of mmap() and brk(). */
static NOINLINE void *act_grow(struct thread *t)
{
	const size_t len = 128 << 10;
	char *p = mmap(NULL, 2 * len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	STAY;
	if (p == MAP_FAILED || sbrk((intptr_t)len) == (void *)-1)
		die("mmap or brk");
	STAY;
	sbrk(-(intptr_t)len);
	STAY;
	munmap(p, 2 * len);
	STAY;
	return t;
}
static NOINLINE void growth(struct thread *t)
{
	for (unsigned long i = 0; i < t->n; i++)
		paths[i % 8](act_grow, t);
	STAY;
}

/* malloc() and free(): one block in a hundred is never freed. */
PATHS(m, void *, (size_t n), (n), void *r = malloc(n); STAY; return r;)
static void *(*const mallocs[8])(size_t n) = TABLE(m);

static NOINLINE void pairs(struct thread *t)
{
	uint32_t random = 12345 + t->nr;

	for (unsigned long i = 0; i < t->n; i++) {
		void **at = &t->ring[i % RING];

		random = random * 1664525u + 1013904223u;
		free(*at);
		*at = mallocs[i % 8](16 + (random >> 16) % 497);
		*(volatile char *)*at = 1;
		if (i % 100 == 42)
			*at = NULL;
	}
	for (int i = 0; i < RING; i++) {
		free(t->ring[i]);
		t->ring[i] = NULL;
	}
}

/* What makes the kernel allocate */
static NOINLINE void *act_pipe(struct thread *t)
{
	int fd[2], f;

	if (pipe(fd))
		die("pipe");
	close(fd[0]);
	close(fd[1]);
	f = open("/dev/null", O_RDONLY);
	close(f);
	return t;
}
static NOINLINE void *act_socket(struct thread *t)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) || write(fd[0], "x", 1) != 1)
		die("socketpair");
	close(fd[0]);
	close(fd[1]);
	return t;
}
static NOINLINE void *act_file(struct thread *t)
{
	char name[64];
	int f;

	snprintf(name, sizeof(name), "/dev/shm/bench.%d.%u", getpid(), t->nr);
	f = open(name, O_RDWR | O_CREAT, 0600);
	if (f < 0 || write(f, "x", 1) != 1)
		die(name);
	close(f);
	unlink(name);
	return t;
}
static NOINLINE void *act_fork(struct thread *t)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, NULL, 0) < 0)
		die("fork");
	return t;
}
#define KERNEL(name, f) static NOINLINE void name(struct thread *t) \
{ for (unsigned long i = 0; i < t->n; i++) paths[i % 8](f, t); STAY; }

KERNEL(pipes, act_pipe)
KERNEL(sockets, act_socket)
KERNEL(files, act_file)
KERNEL(forks, act_fork)

/* Many stacks: which of two functions calls which of two is in the bits of a number. */
static NOINLINE void zero(char *p, unsigned int left, unsigned long bits);
static NOINLINE void one(char *p, unsigned int left, unsigned long bits);

static INLINE void branch(char *p, unsigned int left, unsigned long bits)
{
	if (!left) {
		if (p)
			*(volatile char *)p = 1;
		else
			*(volatile char *)malloc(32) = 1;
	} else if (bits & 1) {
		one(p, left - 1, bits >> 1);
	} else {
		zero(p, left - 1, bits >> 1);
	}
	STAY;
}
static NOINLINE void zero(char *p, unsigned int left, unsigned long bits)
{
	branch(p, left, bits);
	STAY;
}
static NOINLINE void one(char *p, unsigned int left, unsigned long bits)
{
	branch(p, left, bits);
	STAY;
}
static NOINLINE void many(struct thread *t)
{
	for (unsigned long i = 0; i < t->n; i++)
		branch(t->pages ? t->pages + i * PAGE : NULL, depth, i % stacks);
}

#define TURNS	400000

static void give_turns(void)
{
	for (int i = 0; i < TURNS; i++)
		sched_yield();
}

static NOINLINE void seeks(struct thread *t)
{
	const int f = open("/dev/zero", O_RDONLY);

	for (unsigned long i = 0; i < t->n; i++)
		syscall(SYS_lseek, f, i % 1000, SEEK_SET);
	give_turns();
	close(f);
}

static void put(const char *path, const char *what)
{
	const int f = open(path, O_WRONLY);

	if (f < 0 || write(f, what, strlen(what)) < 0)
		die(path);
	close(f);
}

/* The kernel's counters of @names, " a b " */
static unsigned long counted(const char *names)
{
	unsigned long n, sum = 0;
	char name[64], padded[70];
	FILE *f = fopen("/proc/vmstat", "r");

	while (f && fscanf(f, "%63s %lu", name, &n) == 2) {
		snprintf(padded, sizeof(padded), " %s ", name);
		sum += strstr(names, padded) ? n : 0;
	}
	if (f)
		fclose(f);
	return sum;
}

static void swapins(struct thread *t)
{
	for (unsigned long i = 0; i < t->n; i++)
		((volatile char *)t->pages)[i * PAGE] = 1;
}

/* In a process of its own, in a memory cgroup, of which it uses more than that may have. */
static void in_cgroup(const char *procs, size_t size, unsigned long times)
{
	pid_t pid = fork();
	char text[32], *p;

	if (pid < 0)
		die("fork");
	if (pid) {
		waitpid(pid, NULL, 0);
		return;
	}
	snprintf(text, sizeof(text), "%d", getpid());
	put(procs, text);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		die("mmap");
	while (times--)
		for (size_t i = 0; i < size; i += PAGE)
			memset(p + i, (int)(i >> 12), 64);
	_exit(0);
}

static void swapping(struct thread *t)
{
	in_cgroup("/sys/fs/cgroup/memory/bench-swap/cgroup.procs", 32 << 20, t->n);
}

static void ooms(struct thread *t)
{
	for (unsigned long i = 0; i < t->n; i++)
		in_cgroup("/sys/fs/cgroup/memory/bench-oom/cgroup.procs", 32 << 20, 1);
	give_turns();
}

static void fire(const char *kind, unsigned long n)
{
	char text[64];

	snprintf(text, sizeof(text), "%s %lu", kind, n);
	put("/sys/module/bench_floor/parameters/fire", text);
	give_turns();
}
static void reclaims(struct thread *t)
{
	fire("reclaims", t->n);
}
static void compactions(struct thread *t)
{
	fire("compactions", t->n);
}
static void shrinks(struct thread *t)
{
	fire("shrinks", t->n);
}

static void nothing(struct thread *t)
{
	(void)t;
}

static const struct kind kinds[] = {
	{ "faults", faults, 1, 1, NULL, false },
	{ "shallow", shallow, 1, 1, NULL, false },
	{ "deep", deep, 1, 1, NULL, false },
	{ "growth", growth, 4, 0, NULL, false },
	{ "pairs", pairs, 1, 0, NULL, false },
	{ "pipes", pipes, 1, 0, NULL, false },
	{ "sockets", sockets, 1, 0, NULL, false },
	{ "files", files, 1, 0, NULL, false },
	{ "forks", forks, 1, 0, NULL, false },
	{ "many", many, 1, 1, NULL, false },
	{ "many-mallocs", many, 1, 0, NULL, false },
	{ "seeks", seeks, 1, 0, NULL, false },
	{ "swapins", swapins, 0, 1, " pswpin ", true },
	{ "swapping", swapping, 0, 0, " pswpin pswpout ", false },
	{ "ooms", ooms, 0, 0, " oom_kill ", false },
	{ "reclaims", reclaims, 1, 0, NULL, false },
	{ "compactions", compactions, 1, 0, NULL, false },
	{ "shrinks", shrinks, 1, 0, NULL, false },
	{ "nothing", nothing, 0, 0, NULL, false },
};
static const struct kind *kind;

static void prepare(struct thread *t, unsigned long n)
{
	t->n = n;
	t->pages = NULL;
	if (!kind->faults)
		return;
	t->pages = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t->pages == MAP_FAILED)
		die("mmap");
	if (!kind->swapped)
		return;
	for (size_t i = 0; i < n * PAGE; i += 64)
		t->pages[i] = (char)(i >> 6);
	if (madvise(t->pages, n * PAGE, MADV_PAGEOUT))
		die("madvise");
}

/* The main thread is the first; the others wait here between rounds. */
static void *serve(void *arg)
{
	for (;;) {
		pthread_barrier_wait(&start);
		kind->work(arg);
		pthread_barrier_wait(&end);
	}
	return NULL;
}

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static INLINE void one_round(struct thread *all, int nr, unsigned long n)
{
	const char *counters = kind->counters;
	unsigned long events = n * kind->events * (unsigned long)nr;
	uint64_t wall, cpu;
	struct rusage a, b;

	for (int i = 0; i < nr; i++)
		prepare(&all[i], n);
	if (counters)
		events = 0 - counted(counters);
	getrusage(RUSAGE_SELF, &a);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	wall = now(CLOCK_MONOTONIC);
	if (nr > 1)
		pthread_barrier_wait(&start);
	kind->work(&all[0]);
	if (nr > 1)
		pthread_barrier_wait(&end);
	wall = now(CLOCK_MONOTONIC) - wall;
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	getrusage(RUSAGE_SELF, &b);
	if (counters)
		events += counted(counters);
	printf("R %llu %llu %lu %ld\n", (unsigned long long)wall, (unsigned long long)cpu,
	       events, b.ru_minflt - a.ru_minflt);
	for (int i = 0; kind->faults && i < nr; i++)
		munmap(all[i].pages, n * PAGE);
}

int main(int argc, char **argv)
{
	static struct thread all[THREADS];
	int nr = argc > 2 ? atoi(argv[2]) : 1;
	unsigned long n;
	char line[64];

	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(argv[1], kinds[i].name))
			kind = &kinds[i];
	if (!kind || nr < 1 || nr > THREADS) {
		fprintf(stderr, "usage: bench_work KIND [THREADS [STACKS [DEPTH]]]\n");
		return 2;
	}
	stacks = argc > 3 ? strtoul(argv[3], NULL, 0) : 1;
	depth = argc > 4 ? (unsigned int)atoi(argv[4]) : depth;
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_barrier_init(&start, NULL, (unsigned int)nr);
	pthread_barrier_init(&end, NULL, (unsigned int)nr);
	for (int i = 0; i < nr; i++)
		all[i].nr = (unsigned int)i;
	for (int i = 1; i < nr; i++)
		if (pthread_create(&all[i].id, NULL, serve, &all[i]))
			die("pthread_create");
	printf("READY %d\n", getpid());
	while (fgets(line, sizeof(line), stdin) && sscanf(line, "run %lu", &n) == 1)
		one_round(all, nr, n);
	return 0;
}
