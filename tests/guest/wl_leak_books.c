// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocate, free, move and map memory in every way, to check memtap's accounts.  -f CASE chooses
 * what; it is done wl_opts.rounds times in the window.  Lines of the truth:
 *
 *	leak	blocks and bytes of a path that were not freed
 *	map	the same for anonymous mappings; mremap() counts like realloc()
 *	child	as leak, for processes that have exited by then
 *	FACT	a number of memtap's accounts: failed calls, ...
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workload.h"
#include "wl_leak.h"

#define WORK	"wl_worker;wl_work;"
#define KIB	1024L

enum {
	PLACE, MOVED, FAILS, ALIGNED, HEAD, TAIL, MIDDLE, OVER, INSTEAD, GROW, SHRINK, MOVE, HUGE,
	PARENT, CHILD, GRANDCHILD, EXEC, VFORK, JUMP, DIE, DEEP, UNDER, TAKE, THROW,
	FACT_FAILED_MALLOC, FACT_FAILED_CALLOC, FACT_FAILED_REALLOC, FACT_FAILED_ALIGN,
	FACT_FAILED_MMAP, FACT_INNER, FACT_LEFT, FACT_PURGED,
};

struct wl_line wl_lines[] = {
	[PLACE]		= { "leak", WORK "wl_realloc;wl_in_place", 0, 0 },
	[MOVED]		= { "leak", WORK "wl_realloc;wl_moved", 0, 0 },
	[FAILS]		= { "leak", WORK "wl_realloc;wl_fails", 0, 0 },
	[ALIGNED]	= { "leak", WORK "wl_aligned;wl_align", 0, 0 },
	[HEAD]		= { "map", WORK "wl_maps;wl_head;wl_map", 0, 0 },
	[TAIL]		= { "map", WORK "wl_maps;wl_tail;wl_map", 0, 0 },
	[MIDDLE]	= { "map", WORK "wl_maps;wl_middle;wl_map", 0, 0 },
	[OVER]		= { "map", WORK "wl_maps;wl_over;wl_map", 0, 0 },
	[INSTEAD]	= { "map", WORK "wl_maps;wl_over;wl_instead", 0, 0 },
	[GROW]		= { "map", WORK "wl_maps;wl_grow", 0, 0 },
	[SHRINK]	= { "map", WORK "wl_maps;wl_shrink", 0, 0 },
	[MOVE]		= { "map", WORK "wl_maps;wl_move", 0, 0 },
	[HUGE]		= { "map", WORK "wl_huge;wl_rounded;wl_huge_map", 0, 0 },
	[PARENT]	= { "leak", WORK "wl_forks;wl_parent", 0, 0 },
	[CHILD]		= { "child", WORK "wl_forks;wl_child", 0, 0 },
	[GRANDCHILD]	= { "child", WORK "wl_forks;wl_child;wl_forks;wl_grandchild", 0, 0 },
	[EXEC]		= { "leak", WORK "wl_executed", 0, 0 },
	[VFORK]		= { "leak", WORK "wl_vforks;wl_shared", 0, 0 },
	[JUMP]		= { "leak", WORK "wl_jumps;wl_take", 0, 0 },
	[DIE]		= { "leak", WORK "wl_dies;wl_take", 0, 0 },
	[DEEP]		= { "leak", WORK "wl_deep", 0, 0 },
	[UNDER]		= { "leak", WORK "wl_under;wl_take", 0, 0 },
	[TAKE]		= { "leak", WORK "wl_own;wl_take", 0, 0 },
	[THROW]		= { "leak", WORK "wl_throws;wl_take", 0, 0 },
	[FACT_FAILED_MALLOC]	= { "failed", "malloc", 0, 0 },
	[FACT_FAILED_CALLOC]	= { "failed", "calloc", 0, 0 },
	[FACT_FAILED_REALLOC]	= { "failed", "realloc", 0, 0 },
	[FACT_FAILED_ALIGN]	= { "failed", "posix_memalign", 0, 0 },
	[FACT_FAILED_MMAP]	= { "failed", "mmap", 0, 0 },
	[FACT_INNER]	= { "inner", "own", 0, 0 },
	[FACT_LEFT]	= { "left", "own", 0, 0 },
	[FACT_PURGED]	= { "purged", "child", 0, 0 },
};
const size_t wl_nr_lines = sizeof(wl_lines) / sizeof(wl_lines[0]);

/* Sizes that no allocator hands out. */
static volatile size_t huge = SIZE_MAX / 2 + 1;

/* An allocator of our own, that memtap is told of by name. */
static char pool[4 << 20];
static size_t pool_used;
static void *given;

WL_FN void *own_take(size_t n)
{
	size_t at = __atomic_fetch_add(&pool_used, (n + 15) & ~15UL, __ATOMIC_RELAXED);

	if (at + n > sizeof(pool))
		wl_die("the pool is empty");
	return pool + at;
}

WL_FN void own_give(void *p)
{
	given = p;
}

static jmp_buf out;

WL_FN void *own_jump(size_t n)
{
	if (n)
		longjmp(out, 1);
	return NULL;
}

WL_FN void *own_die(size_t n)
{
	if (n)
		pthread_exit(NULL);
	return NULL;
}

/* Each calls itself, and each is a probe's: only the outermost counts. */
WL_FN void *own_deep(size_t n, unsigned int depth)
{
	void *p;

	if (!depth)
		return own_take(n);
	p = own_deep(n, depth - 1);
	__asm__ volatile("" : "+r" (p));
	return p;
}

WL_FN void *wl_take(size_t n, int line)
{
	void *p = own_take(n);

	wl_add(line, 1, n);
	return p;
}

WL_FN void wl_own(void)
{
	own_give(wl_take(100, TAKE));
	wl_add(TAKE, -1, -100);
	wl_take(101, TAKE);
}

/* realloc */

WL_FN void wl_in_place(void)
{
	realloc(malloc(1000), 300);
	wl_add(PLACE, 1, 300);
	realloc(malloc(100), 100);
	wl_add(PLACE, 1, 100);
}

WL_FN void wl_moved(void)
{
	void *p = malloc(24), *wall = malloc(24);

	p = realloc(p, 5000);
	free(wall);
	wl_add(MOVED, 1, 5000);
}

WL_FN void wl_fails(void)
{
	if (realloc(malloc(77), huge))
		wl_die("realloc did not fail");
	wl_add(FAILS, 1, 77);
	wl_add(FACT_FAILED_REALLOC, 1, 0);
}

WL_FN void wl_to_zero(void)
{
	if (realloc(malloc(88), 0))
		wl_die("realloc to 0");
}

WL_FN void wl_realloc(void)
{
	wl_in_place();
	wl_moved();
	wl_fails();
	wl_to_zero();
	free(realloc(malloc(9), 99));
}

WL_FN void wl_align(void)
{
	static volatile size_t wrong = 3;
	void *p = &p;

	if (!posix_memalign(&p, wrong, 100) || !posix_memalign(&p, 64, huge))
		wl_die("posix_memalign did not fail");
	wl_add(FACT_FAILED_ALIGN, 2, 0);
	if (posix_memalign(&p, 256, 100))
		wl_die("posix_memalign");
	wl_add(ALIGNED, 1, 100);
	if (posix_memalign(&p, 32, 50))
		wl_die("posix_memalign");
	free(p);
}

WL_FN void wl_aligned(void)
{
	wl_align();
}

WL_FN void wl_null(void)
{
	if (malloc(huge) || calloc(huge, 4) || calloc(1, huge) ||
	    mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ||
	    mmap(NULL, huge, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		wl_die("something did not fail");
	free(NULL);
	wl_add(FACT_FAILED_MALLOC, 1, 0);
	wl_add(FACT_FAILED_CALLOC, 2, 0);
	wl_add(FACT_FAILED_MMAP, 2, 0);
}

/* mappings */

WL_FN char *wl_map(long bytes)
{
	long p = wl_mmap(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);

	if (wl_failed(p))
		wl_die("mmap");
	return (char *)p;
}

static void unmap(char *p, long bytes)
{
	if (wl_syscall3(SYS_munmap, (long)p, bytes, 0))
		wl_die("munmap");
}

static char *remap(char *p, long from, long to, long flags, char *at)
{
	long q = wl_syscall5(SYS_mremap, (long)p, from, to, flags, (long)at);

	if (wl_failed(q))
		wl_die("mremap");
	return (char *)q;
}

WL_FN void wl_head(void)
{
	unmap(wl_map(64 * KIB), 16 * KIB);
	wl_add(HEAD, 1, 48 * KIB);
}

WL_FN void wl_tail(void)
{
	unmap(wl_map(64 * KIB) + 60 * KIB, 4 * KIB);
	wl_add(TAIL, 1, 60 * KIB);
}

WL_FN void wl_middle(void)
{
	unmap(wl_map(64 * KIB) + 20 * KIB, 24 * KIB);
	wl_add(MIDDLE, 2, 40 * KIB);
}

WL_FN void wl_instead(char *at)
{
	if (mmap(at, 8 * KIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
		wl_die("mmap");
	wl_add(INSTEAD, 1, 8 * KIB);
}

WL_FN void wl_over(void)
{
	wl_instead(wl_map(64 * KIB) + 16 * KIB);
	wl_add(OVER, 2, 56 * KIB);
}

WL_FN void wl_grow(void)
{
	remap(wl_map(16 * KIB), 16 * KIB, 256 * KIB, MREMAP_MAYMOVE, NULL);
	wl_add(GROW, 1, 256 * KIB);
}

WL_FN void wl_shrink(void)
{
	remap(wl_map(128 * KIB), 128 * KIB, 12 * KIB, 0, NULL);
	wl_add(SHRINK, 1, 12 * KIB);
}

/* Onto another mapping, which is gone then. */
WL_FN void wl_move(void)
{
	char *to = wl_map(32 * KIB);

	remap(wl_map(32 * KIB), 32 * KIB, 32 * KIB, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	wl_add(MOVE, 1, 32 * KIB);
}

/* Of a file: no memory that anybody allocated. */
WL_FN void wl_of_a_file(void)
{
	const int fd = memfd_create("file", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, 64 * KIB) ||
	    mmap(NULL, 64 * KIB, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		wl_die("memfd_create");
	close(fd);
}

WL_FN void wl_maps(void)
{
	char *p;

	wl_head();
	wl_tail();
	wl_middle();
	wl_over();
	wl_grow();
	wl_shrink();
	wl_move();
	wl_of_a_file();
	/* several at once, and more than there is */
	p = wl_map(256 * KIB);
	unmap(p + 64 * KIB, 64 * KIB);
	unmap(p, 256 * KIB);
}

/* Huge pages: one byte is a whole one, and none of them is unmapped in part. */
#define HUGE_PAGE	(2048 * KIB)

WL_FN char *wl_huge_map(long bytes)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | 21 << MAP_HUGE_SHIFT;
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (p == MAP_FAILED)
		wl_die("mmap of huge pages");
	return p;
}

WL_FN void wl_rounded(void)
{
	wl_huge_map(1);
	wl_add(HUGE, 1, HUGE_PAGE);
}

WL_FN void wl_refused(void)
{
	if (!munmap(wl_huge_map(HUGE_PAGE), 4 * KIB))
		wl_die("munmap of a part of a huge page");
}

WL_FN void wl_huge(void)
{
	wl_rounded();
	wl_refused();
}

/* processes */

static void wait_for(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || status)
		wl_die("child");
}

WL_FN void wl_parent(size_t n)
{
	malloc(n);
	wl_add(PARENT, 1, n);
}

WL_FN void wl_child(void *parents)
{
	malloc(1000);
	/* its own copy; that of its parent stays */
	free(parents);
	_exit(0);
}

WL_FN void wl_forks(void)
{
	void *p = malloc(200);
	pid_t child;

	wl_parent(201);
	child = fork();
	if (!child)
		wl_child(p);
	wl_parent(202);
	wait_for(child);
	free(p);
	/* the child's: what it does not share with us is in its own accounts */
	wl_add(CHILD, 1, 1000);
	wl_add(FACT_PURGED, 1, 1000);
}

WL_FN void wl_before(void)
{
	char *const argv[] = { "wl_leak_books", "-e", (char *)wl_opts.expect,
			       "-f", "executed", NULL };
	int i;

	for (i = 0; i < 5; i++)
		malloc(5000);
	/* what is locked into memory would count against the next one */
	execv("/proc/self/exe", argv);
	wl_die("exec");
}

WL_FN void wl_executed(void)
{
	malloc(501);
	wl_add(EXEC, 1, 501);
}

WL_FN void wl_shared(size_t n)
{
	malloc(n);
	wl_add(VFORK, 1, n);
}

/* The child has its parent's memory, and so its blocks. */
WL_FN void wl_vforks(void)
{
	void *p = malloc(70);
	pid_t child = vfork();

	if (!child) {
		wl_shared(71);
		free(p);
		_exit(0);
	}
	wait_for(child);
	wl_shared(72);
}

/* ways out of an allocator that are no return */

WL_FN void wl_jumps(void)
{
	if (!setjmp(out))
		own_jump(10);
	wl_add(FACT_LEFT, 1, 0);
	/* nobody is inside any more */
	wl_take(31, JUMP);
	own_give(own_take(32));
}

WL_FN void *wl_dying(void *unused)
{
	own_die(10);
	return unused;
}

/* What libc needs for a thread is not in the truth: paths through "other". */
WL_FN void other_thread(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, wl_dying, NULL))
		wl_die("pthread_create");
	pthread_join(id, NULL);
}

WL_FN void wl_dies(void)
{
	other_thread();
	wl_add(FACT_LEFT, 1, 0);
	wl_take(33, DIE);
}

/* Another language: wl_leak_throw.cc */
void own_catch(size_t n);

WL_FN void wl_throws(void)
{
	own_catch(10);
	wl_add(FACT_LEFT, 1, 0);
	wl_take(34, THROW);
}

/* More than the kernel's 64 returns to come: that of the outermost is there. */
WL_FN void wl_deep(void)
{
	own_deep(40, 100);
	wl_add(DEEP, 1, 40);
	wl_add(FACT_INNER, 101, 0);
}

/*
 * Somebody else has probes on the returns of this one: where the 64 are used up, the
 * return of an allocator is not told.
 */
WL_FN void wl_down(unsigned int depth);
WL_FN void wl_down_there(unsigned int depth)
{
	if (depth) {
		wl_down(depth - 1);
		return;
	}
	own_take(50);
	wl_add(FACT_LEFT, 1, 0);
}

WL_FN void wl_down(unsigned int depth)
{
	wl_down_there(depth);
	__asm__ volatile("");
}

WL_FN void wl_under(void)
{
	wl_down(70);
	wl_take(51, UNDER);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "realloc", wl_realloc }, { "aligned", wl_aligned }, { "null", wl_null },
	{ "maps", wl_maps }, { "huge", wl_huge }, { "fork", wl_forks }, { "exec", wl_before },
	{ "executed", wl_executed }, { "vfork", wl_vforks }, { "own", wl_own },
	{ "jump", wl_jumps }, { "die", wl_dies }, { "throw", wl_throws },
	{ "deep", wl_deep }, { "under", wl_under },
};

static void (*chosen)(void);

int wl_prepare(void)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (wl_opts.file && !strcmp(cases[i].name, wl_opts.file))
			chosen = cases[i].run;
	errno = EINVAL;
	return chosen ? 0 : -1;
}

void wl_work(unsigned int thread)
{
	unsigned long i;

	(void)thread;
	for (i = 0; i < wl_opts.rounds; i++)
		chosen();
}
