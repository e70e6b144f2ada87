// SPDX-License-Identifier: GPL-2.0-or-later
/* CLANG: long */
/* LINK: ctl/base/openreg.c ctl/leaks/reach.c ctl/leaks/reach_glibc.c */
/* LINK: ctl/base/addr_index.c ctl/leaks/reach_memory.c ctl/leaks/reach_force.c */
/* LINK: ctl/leaks/reach_process.c ctl/leaks/copy.c ctl/leaks/copy_pages.c */
/* LINK: ctl/leaks/copy_counts.c ctl/leaks/heap_layout.c */
/* LINK: ctl/heap/arena.c ctl/heap/cached.c ctl/heap/chunks.c ctl/heap/main_arena.c */
/* LINK: ctl/heap/mapped.c ctl/heap/salvage.c ctl/heap/step.c ctl/heap/walk.c ctl/heap/words.c */
/* LINK: ctl/heap/mallocng.c */
/* LINK: ctl/heap/other.c ctl/heap/jemalloc.c ctl/heap/jemalloc_extents.c */
/* LINK: ctl/heap/jemalloc_entry.c */
/* LINK: ctl/heap/jemalloc_old.c ctl/heap/jemalloc_old_walk.c ctl/heap/jemalloc_old_cache.c */
/* LINK: ctl/heap/jemalloc_chunk.c ctl/heap/jemalloc_huge.c */
/* LINK: ctl/heap/jemalloc_cache.c ctl/heap/tcmalloc.c ctl/heap/tcmalloc_cache.c */
/* LINK: ctl/heap/mimalloc.c ctl/heap/oldmalloc.c ctl/heap/tree.c */
/* LINK: ctl/leaks/copy_dirty.c ctl/base/ids.c ctl/base/limit.c */
/* LINK: ctl/leaks/reach_roots.c ctl/leaks/reach_exit.c ctl/leaks/reach_heap.c */
/* LINK: ctl/leaks/reach_kernel.c ctl/leaks/reach_calls.c */
/* LINK: ctl/leaks/reach_shared.c ctl/leaks/reach_ranges.c ctl/leaks/reach_threads.c */
/* LINK: ctl/base/opt_value.c ctl/elf/build_id.c ctl/elf/debug.c ctl/elf/func.c */
/* LINK: ctl/elf/kind.c ctl/elf/names.c ctl/elf/symbols.c ctl/elf/usdt.c */
/* LINK: ctl/unwind/bytes.c ctl/unwind/cfa.c ctl/unwind/elf.c ctl/unwind/frame.c */
/* LINK: ctl/unwind/go.c ctl/unwind/rows.c ctl/unwind/rule.c ctl/unwind/saved.c */
/* LINK: ctl/snap/common.c ctl/snap/index.c ctl/snap/live.c ctl/snap/merge.c */
/* LINK: ctl/snap/snap.c ctl/target/ldcache.c ctl/target/maps.c ctl/target/procmaps.c */
/* LINK: kmod/core/wire.c -ldw -lelf */
/*
 * A child of ours has an allocator of its own, and what it handed out lies where a
 * program may keep addresses, and where it may not.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "leaks/copy.h"
#include "leaks/reach_process.h"
#include "tap.h"

#define ARENA_LEN	(1UL << 20)
#define MAP_LEN		16384UL
#define SIZE		64
#define RUNNING_LEN	(1UL << 20)
#define GUARD_LEN	4096UL
#define NR_BLOCKS	28

enum block {
	OF_DATA, OF_BSS, OF_STACK, OF_THREAD, OF_TLS, OF_BLOCK, OF_INSIDE, OF_FREED,
	OF_DEAD_STACK, OF_REGISTER, OF_RUNNING, OF_SHARED, OF_SHARED_FILE, OF_MAPPING,
	OF_NOBODY, OF_LOST, OF_ENDED, OF_ENDED_BLOCK, OF_OTHER_STACK, OF_SPARE_STACK,
	OF_LEFT_BY_HANDLER, OF_EPOLL, OF_TIMER, OF_READ_ONLY, OF_VECTOR,
	NR_USED
};

/* Shared with the child, which says there that it is ready. */
static struct shared {
	char *arena;			/* of its allocator */
	char *ended;			/* as glibc keeps the stack of a thread */
	char *running;			/* stack of one that runs */
	char *stacks;			/* of others, in a row, and one guard below all */
	unsigned long guard;		/* in brk()'s memory, and a page elsewhere, which nobody */
	unsigned long apart;		/* may touch: both inverted */
	unsigned long maps[2];		/* of its own; inverted, lest this keep them */
	volatile int ready;
} *shared;

/* Their pages are in the page cache, and in no page table: of memory, of a file. */
#define SHARED_LEN	(1UL << 20)
static char *unmapped[2];

static void *volatile data = (void *)1;
static void *volatile bss, *volatile bss_map;
static _Thread_local void *volatile tls;

static char *map(int i)
{
	return (char *)~shared->maps[i];
}

static char *at(enum block b)
{
	return shared->arena + 4096 + (size_t)b * 4096;
}

static void put(char *where, const char *what)
{
	memcpy(where, &what, sizeof(what));
}

/* An address that stays below the stack pointer. */
static __attribute__((noinline)) void leave(enum block b, int nr)
{
	char *volatile words[512];

	for (int i = 0; i < nr; i++)
		words[i] = i < nr - 112 ? at(b) : NULL;
	__asm__ volatile("" : : "r"(words) : "memory");
}

static void *thread(void *arg)
{
	char *volatile mine = at(OF_THREAD);

	tls = at(OF_TLS);
	shared->ready++;
	for (;;)
		pause();
	return mine;
}

/*
 * Never sleeps.  Its stack is the child's own mapping, with a guard, as glibc's are; the
 * tool knows no stack pointer of it.
 */
static void *be_busy(void *arg)
{
	char *volatile mine = at(OF_RUNNING);

	shared->ready++;
	for (;;)
		__asm__ volatile("" : : "r"(mine), "r"(arg));
	return NULL;
}

static int start_running(void)
{
	pthread_attr_t attr;
	pthread_t t;

	return pthread_attr_init(&attr) ||
	       pthread_attr_setstack(&attr, shared->running + GUARD_LEN, RUNNING_LEN - GUARD_LEN) ||
	       pthread_create(&t, &attr, be_busy, NULL);
}

/* Stacks in one mapping, one guard below all: of threads, of a signal's handler. */
#define STACK_LEN	(64UL << 10)

static char *stack(int i)
{
	return shared->stacks + GUARD_LEN + i * STACK_LEN;
}

static void wait_in_handler(int sig)
{
	(void)sig;
	leave(OF_LEFT_BY_HANDLER, 512);
	shared->ready++;
	for (;;)
		pause();
}

static void *handle(void *arg)
{
	const stack_t alternative = { .ss_sp = stack(3), .ss_size = STACK_LEN };
	const struct sigaction act = { .sa_handler = wait_in_handler, .sa_flags = SA_ONSTACK };

	if (!sigaltstack(&alternative, NULL) && !sigaction(SIGUSR1, &act, NULL))
		pthread_kill(pthread_self(), SIGUSR1);
	return arg;
}

static void *sleep_above(void *arg)
{
	shared->ready++;
	for (;;)
		pause();
	return arg;
}

static int start_in(int i, void *(*run)(void *))
{
	pthread_attr_t attr;
	pthread_t t;

	return pthread_attr_init(&attr) || pthread_attr_setstack(&attr, stack(i), STACK_LEN) ||
	       pthread_create(&t, &attr, run, NULL);
}

static int start_stacks(void)
{
	put(stack(0) + STACK_LEN - 64, at(OF_OTHER_STACK));
	put(stack(2) + STACK_LEN - 64, at(OF_SPARE_STACK));
	return start_in(1, sleep_above) || start_in(4, handle);
}

/* The kernel will tell them, and nobody else has them; and what was written before. */
static __attribute__((noinline)) void give_away(void)
{
	struct epoll_event ev = { .events = EPOLLIN, .data = { .ptr = at(OF_EPOLL) } };
	struct sigevent sig = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2,
				.sigev_value = { .sival_ptr = at(OF_TIMER) } };
	char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	timer_t timer;
	int fds[2];

	if (map == MAP_FAILED || pipe(fds) ||
	    epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, fds[0], &ev))
		_exit(1);
	if (timer_create(CLOCK_MONOTONIC, &sig, &timer))
		_exit(1);
	put(map + 64, at(OF_READ_ONLY));
	mprotect(map, 4096, PROT_READ);
}

/* Runs for a while, although somebody thinks that it waits. */
static void be_slow(void)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_sec < 1 && t.tv_nsec < 300 * 1000 * 1000);
}

static void run_as_target(void)
{
	char *volatile mine = at(OF_STACK);
	pthread_t t;

	if (pthread_create(&t, NULL, thread, NULL) || start_running() || start_stacks())
		_exit(1);
	data = at(OF_DATA);
	bss = at(OF_BSS);
	put(at(OF_DATA), at(OF_BLOCK));
	put(at(OF_DATA) + 8, at(OF_INSIDE) + 24);
	put(shared->arena + 64, at(OF_FREED));	/* of no block */
	put(map(0) + 80, at(OF_MAPPING));
	put(map(1) + 80, map(1));
	bss_map = map(0) + 4096;
	put(at(OF_NOBODY), at(OF_LOST));
	put(unmapped[0] + SHARED_LEN / 2, at(OF_SHARED));
	put(unmapped[1] + SHARED_LEN / 2, at(OF_SHARED_FILE));
	for (int i = 0; i < 2; i++)
		madvise(unmapped[i], SHARED_LEN, MADV_DONTNEED);
	put(shared->ended + 8192, at(OF_ENDED));
	put(shared->ended + MAP_LEN - 1024, at(OF_ENDED_BLOCK));
	put(shared->ended + MAP_LEN - 2048, shared->ended + MAP_LEN - 2048);
	put(shared->ended + MAP_LEN - 2048 + 16, shared->ended + MAP_LEN - 2048);
	put(shared->ended + MAP_LEN - 512, shared->ended);
	put(shared->ended + MAP_LEN - 504, (char *)MAP_LEN);
	give_away();
	leave(OF_DEAD_STACK, 512);
	shared->ready++;
	be_slow();
	for (;;)
		pause();
	(void)mine;
}

static void map_shared(void)
{
	FILE *file = tmpfile();

	if (!file || ftruncate(fileno(file), SHARED_LEN))
		exit(1);
	unmapped[0] = mmap(NULL, SHARED_LEN, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unmapped[1] = mmap(NULL, SHARED_LEN, PROT_READ | PROT_WRITE, MAP_SHARED,
			   fileno(file), 0);
}

/* Two pages of four were touched, and nobody can read them now. */
static void map_locked(void)
{
	char *at = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	if (at == MAP_FAILED)
		exit(1);
	memset(at, 1, 2 * 4096);
	mprotect(at, 4 * 4096, PROT_NONE);
}

/* musl's malloc puts one where its heap begins. */
static void map_guards(void)
{
	const unsigned long page = ((unsigned long)sbrk(4 * 4096) + 4095) & ~4095UL;

	shared->guard = ~(unsigned long)mmap((void *)page, 4096, PROT_NONE,
					     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	shared->apart = ~(unsigned long)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
					     -1, 0);
}

static pid_t start(void)
{
	pid_t child;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	shared->arena = mmap(NULL, ARENA_LEN, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 2; i++)
		shared->maps[i] = ~(unsigned long)mmap(NULL, MAP_LEN, PROT_READ | PROT_WRITE,
						       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	shared->ended = mmap(NULL, MAP_LEN, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(shared->ended, 4096, PROT_NONE);
	shared->running = mmap(NULL, RUNNING_LEN, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(shared->running, GUARD_LEN, PROT_NONE);
	shared->stacks = mmap(NULL, GUARD_LEN + 5 * STACK_LEN, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(shared->stacks, GUARD_LEN, PROT_NONE);
	map_shared();
	map_locked();
	map_guards();
	child = fork();
	if (!child)
		run_as_target();
	while (shared->ready < 5)
		usleep(1000);
	return child;
}

/* What the module would tell of the child. */
static struct memtap_block blocks[NR_BLOCKS + 8];
static struct memtap_rec_task task;
static struct memtap_rec_space space;
static struct snap_run run = { blocks, 0, 0 };
static struct snap snap = {
	.tasks = &task, .nr_tasks = 1, .spaces = &space, .nr_spaces = 1,
	.runs = &run, .nr_runs = 1,
};

static void add(const char *addr, size_t size, __u16 flags)
{
	blocks[run.nr++] = (struct memtap_block){
		.addr = (__u64)(unsigned long)addr, .size = size, .space = 3, .task = 8,
		.flags = flags,
	};
	snap.nr_blocks = run.nr;
}

static void describe(pid_t child, __u32 flags)
{
	task = (struct memtap_rec_task){ .id = 8, .space = 3, .pid = child, .ns_pid = child };
	space = (struct memtap_rec_space){ .id = 3, .flags = flags, .task = 8, .pid = child };
	run.nr = 0;
	for (int i = 0; i < NR_USED; i++)
		add(at(i), SIZE, 0);
	add(shared->arena, ARENA_LEN, MEMTAP_BLOCK_MAPPING | MEMTAP_BLOCK_INNER);
	add(map(0), MAP_LEN, MEMTAP_BLOCK_MAPPING);
	add(map(1), MAP_LEN, MEMTAP_BLOCK_MAPPING);
	add(shared->ended, MAP_LEN, MEMTAP_BLOCK_MAPPING);
	add(shared->running, RUNNING_LEN, MEMTAP_BLOCK_MAPPING);
	add(shared->stacks, GUARD_LEN + 5 * STACK_LEN, MEMTAP_BLOCK_MAPPING);
	add((char *)~shared->guard, 4096, MEMTAP_BLOCK_MAPPING);
	add((char *)~shared->apart, 4096, MEMTAP_BLOCK_MAPPING);
}

static struct snap_reach *found;
static size_t nr_found;
static struct reach_left left;

/* As the module tells them; which thread has it makes no difference. */
static size_t read_regs(void *ctx, pid_t tid, __u64 regs[MEMTAP_HELD_REGS])
{
	(void)ctx;
	(void)tid;
	memset(regs, 0, MEMTAP_HELD_REGS * sizeof(*regs));
	regs[12] = (__u64)(unsigned long)at(OF_REGISTER);
	return MEMTAP_HELD_REGS;
}

static size_t read_vectors(void *ctx, pid_t tid, __u64 *words, size_t room)
{
	(void)ctx;
	(void)tid;
	memset(words, 0, room * sizeof(*words));
	words[100] = (__u64)(unsigned long)at(OF_VECTOR);
	return room;
}

#define SECOND	1000000000ULL

/* As the kernel has it, or from a copy that was taken in steps. */
static bool by_copy;

static int take_copy(pid_t pid, const struct reach_regs *regs, struct copy **c)
{
	int err = copy_new(pid, 1ULL << 30, true, c);

	if (!err)
		err = copy_running(*c, clock_ns() + 60 * SECOND);
	return err ? err : copy_stopped(*c, regs, clock_ns() + 60 * SECOND);
}

static int look_at(pid_t pid)
{
	static const struct reach_regs regs = { .read = read_regs, .vectors = read_vectors };
	struct reach_process *p;
	struct copy *c = NULL;
	int err = reach_process_new(&snap, 0, pid, pid, &p);

	if (err)
		return err;
	if (by_copy)
		err = take_copy(pid, &regs, &c);
	if (!err && c)
		reach_process_use(p, c);
	if (!err)
		err = reach_process_scan(p, &regs, &found, &nr_found);
	reach_process_left(p, &left);
	reach_process_free(p);
	copy_free(c);
	return err;
}

static __u32 kind_of(const char *addr)
{
	for (size_t i = 0; i < nr_found; i++)
		if (found[i].addr == (__u64)(unsigned long)addr)
			return found[i].kind;
	return LEAK_UNKNOWN;
}

static void test_all_known(pid_t child, bool copied)
{
	by_copy = copied;
	printf("# %s\n", copied ? "from a copy" : "where it is");
	describe(child, MEMTAP_SPACE_START);
	if (!ok(!look_at(child), "a process can be looked at"))
		return;
	is(nr_found, NR_USED + 7, "all blocks, and the program's own mappings, have a kind");
	is(found[0].space, 3, "in their space");
	is(kind_of(at(OF_DATA)), LEAK_REACHABLE, "data is a root");
	is(kind_of(at(OF_BSS)), LEAK_REACHABLE, "what begins as zeros is, too");
	is(kind_of(at(OF_STACK)), LEAK_REACHABLE, "a stack is");
	is(kind_of(at(OF_THREAD)), LEAK_REACHABLE, "a thread's stack is");
	is(kind_of(at(OF_RUNNING)), LEAK_REACHABLE, "also of one that never sleeps");
	is(kind_of(at(OF_REGISTER)), LEAK_REACHABLE, "a register is");
	is(kind_of(at(OF_VECTOR)), LEAK_REACHABLE, "also one of vectors");
	is(kind_of(at(OF_EPOLL)), LEAK_REACHABLE, "what epoll_ctl() was given is");
	if (!access("/proc/self/timers", R_OK))
		is(kind_of(at(OF_TIMER)), LEAK_REACHABLE, "and timer_create()");
	is(kind_of(at(OF_READ_ONLY)), LEAK_REACHABLE, "memory that nobody may write now is");
	is(kind_of(at(OF_TLS)), LEAK_REACHABLE, "its own variables are");
	is(kind_of(at(OF_BLOCK)), LEAK_REACHABLE, "what a reachable block points to is reachable");
	is(kind_of(at(OF_INSIDE)), LEAK_POSSIBLE, "or possibly lost");
	is(kind_of(at(OF_MAPPING)), LEAK_REACHABLE, "a program's mapping is a root");
	is(kind_of(at(OF_SHARED)), LEAK_REACHABLE,
	   "shared memory is, where it is in no page table, too");
	is(kind_of(at(OF_SHARED_FILE)), LEAK_REACHABLE, "and a file's");
	is(kind_of(at(OF_FREED)), LEAK_DEFINITE, "what an allocator has beside its blocks is not");
	is(kind_of(at(OF_DEAD_STACK)), LEAK_DEFINITE, "nor what a stack left behind");
	is(kind_of(at(OF_OTHER_STACK)), LEAK_REACHABLE,
	   "what lies below a thread's stack in its mapping is a root");
	is(kind_of(at(OF_SPARE_STACK)), LEAK_REACHABLE, "and what lies below a handler's is");
	is(kind_of(at(OF_LEFT_BY_HANDLER)), LEAK_DEFINITE, "but not what that left behind");
	is(kind_of(at(OF_ENDED)), LEAK_DEFINITE, "nor the stack of a thread that has ended");
	is(kind_of(at(OF_ENDED_BLOCK)), LEAK_REACHABLE, "whose own block libc keeps");
	is(kind_of(at(OF_NOBODY)), LEAK_DEFINITE, "what nobody has is lost");
	is(kind_of(at(OF_LOST)), LEAK_INDIRECT, "and what it points to");
	is(kind_of((char *)~shared->guard), LEAK_REACHABLE,
	   "a guard in the midst of the heap is an allocator's");
	is(kind_of((char *)~shared->apart), LEAK_DEFINITE, "one anywhere else is the program's");
	is(kind_of(map(0)), LEAK_REACHABLE, "a mapping that data points into is reachable");
	is(kind_of(map(1)), LEAK_DEFINITE, "one that only it points to is lost");
	free(found);
	by_copy = false;
}

/* The address of a block goes there and back, between pages that are copied first and last. */
static void test_moving(void)
{
	const size_t len = 8 << 20;
	char *arena, *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				0);
	volatile unsigned long tag = (1UL << 60) + 2048;
	size_t lost = 0, failed = 0;
	volatile unsigned int *moves = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	arena = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(at, 1, len);
	/* (in no register without its tag) */
	*(unsigned long *)(at + 8192) = (unsigned long)arena + tag;
	child = fork();
	while (!child) {
		*(char *volatile *)(at + len - 4096) = arena + 64;
		*(char *volatile *)at = NULL;
		++*moves;
		*(char *volatile *)at = arena + 64;
		*(char *volatile *)(at + len - 4096) = NULL;
	}
	while (!*moves)
		usleep(1000);
	describe(child, MEMTAP_SPACE_START);
	run.nr = 0;
	add(arena + 64, SIZE, 0);
	add(arena + 1024, SIZE, 0);
	add(arena + 2048, SIZE, 0);
	add(arena, 65536, MEMTAP_BLOCK_MAPPING | MEMTAP_BLOCK_INNER);
	for (int i = 0; i < 16; i++) {
		static const struct reach_regs stopped = { .read = read_regs, .lives = true };
		struct reach_process *p;
		struct copy *c = NULL;

		failed += reach_process_new(&snap, 0, child, child, &p) ||
			  copy_new(child, 1ULL << 30, true, &c) ||
			  copy_running(c, clock_ns() + 60 * SECOND);
		kill(child, SIGSTOP);
		waitpid(child, NULL, WUNTRACED);
		failed += copy_stopped(c, &stopped, clock_ns() + 60 * SECOND) != 0;
		/* what is read is not what it is meanwhile */
		kill(child, SIGCONT);
		reach_process_use(p, c);
		failed += reach_process_scan(p, NULL, &found, &nr_found) != 0;
		lost += kind_of(arena + 64) != LEAK_REACHABLE;
		failed += kind_of(arena + 1024) != LEAK_DEFINITE;
		lost += kind_of(arena + 2048) != LEAK_POSSIBLE;
		free(found);
		reach_process_free(p);
		copy_free(c);
	}
	is(failed, 0, "a process that goes on can be looked at from its copy");
	is(lost, 0, "what it moves meanwhile is never lost, nor what is tagged");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Nobody waits for us where nobody was told to: its first thread never sleeps. */
static void test_busy(void)
{
	const pid_t child = fork();
	struct reach_process *p;
	__u64 took;

	while (!child)
		__asm__ volatile("");
	describe(child, MEMTAP_SPACE_START);
	took = clock_ns();
	if (ok(!reach_process_new(&snap, 0, child, child, &p), "a process that is busy")) {
		reach_process_until(p, took + 4 * SECOND);
		is(reach_process_scan(p, NULL, &found, &nr_found), 0,
		   "is not waited for when it is looked at in passing");
		free(found);
		reach_process_free(p);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void test_copy(pid_t child)
{
	describe(child, MEMTAP_SPACE_FORKED);
	if (!ok(!look_at(child), "so can a copy of a process"))
		return;
	ok(left.locked >= 2 * 4096 && !(left.locked % 4096),
	   "what nobody may read is counted, as far as it was touched");
	is(left.devices, 0, "and devices, of which it has none");
	is(kind_of(at(OF_FREED)), LEAK_REACHABLE,
	   "there, an address among what the allocator has may be a block's that nobody knows");
	is(kind_of(at(OF_DATA)), LEAK_REACHABLE, "data is a root");
	is(kind_of(at(OF_NOBODY)), LEAK_DEFINITE, "what nobody has is lost");
	is(kind_of(at(OF_LOST)), LEAK_INDIRECT, "and what it points to");
	free(found);
}

static void test_none(pid_t child)
{
	describe(child, MEMTAP_SPACE_START);
	is(look_at(child + 100000), -ESRCH,
	   "a process without blocks is not looked at");
	space.flags |= MEMTAP_SPACE_EXECED;
	is(look_at(child), -ESRCH,
	   "nor what was gone by execve()");
}

/* Blocks of the address space that it has: not of the one that it had before execve(). */
static void test_spaces(pid_t child)
{
	struct memtap_rec_task tasks[2];
	struct memtap_rec_space spaces[2];

	describe(child, MEMTAP_SPACE_START);
	spaces[0] = spaces[1] = space;
	spaces[0].id = 2;
	spaces[1].begin_ns = 1000;
	snap.spaces = spaces;
	snap.nr_spaces = 2;
	snap.tasks = tasks;
	snap.nr_tasks = 2;
	tasks[1] = task;
	tasks[0] = task;
	tasks[0].id = 7;
	/* its shell's, where it was for a moment, as its task says */
	spaces[0].pid = child + 100000;
	is(look_at(child), 0, "a process whose parent had its task");
	is(nr_found ? found[0].space : 0, 3, "it is looked at in its own address space");
	free(found);
	spaces[0].pid = child;
	is(look_at(child), 0, "one whose number the other space has");
	is(nr_found ? found[0].space : 0, 3, "the last one counts");
	free(found);
	spaces[1].task = 7;
	spaces[1].pid = tasks[0].pid = child + 100000;
	spaces[0].flags = MEMTAP_SPACE_EXECED;
	is(look_at(child), 0, "one in a PID namespace");
	is(nr_found ? found[0].space : 0, 3, "is known by its number there");
	free(found);
	snap.spaces = &space;
	snap.nr_spaces = 1;
	snap.tasks = &task;
	snap.nr_tasks = 1;
}

static void test_ended(pid_t child)
{
	struct reach_process *p;

	describe(child, MEMTAP_SPACE_START);
	if (!ok(!reach_process_new(&snap, 0, child, child, &p),
			"a process is there when it is described"))
		return;
	kill(child, SIGKILL);
	usleep(100000);
	is(reach_process_scan(p, NULL, &found, &nr_found), -ESRCH,
	   "of one that ended meanwhile nothing is told");
	reach_process_free(p);
}

int main(void)
{
	const pid_t child = start();

	/* (small pieces that are read where they are leave pages behind that were not there) */
	test_all_known(child, true);
	test_all_known(child, false);
	test_copy(child);
	test_none(child);
	test_spaces(child);
	test_ended(child);
	waitpid(child, NULL, 0);
	test_moving();
	test_busy();
	return tap_done();
}
