// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * t_budgets TIMES: after TIMES short processes ended, all memory and slots that sessions charged
 * for them are free again.  Tables that keep an entry per process have grown by exactly that.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "t_device.h"

#define WARM_UP		64		/* processes before the accounts are taken */
#define PAGES		64		/* what a process touches */
#define SMALL		(256 << 10)
#define DEATHS		200		/* three times as many as there are slots */
#define DEEP		300		/* frames: more than a stack has by default */

enum kind { ROWS, LIVE, TOUCHED, PAIRS, RING, KINDS };

static const char *const names[KINDS] = { "rows", "live", "touched", "pairs", "ring" };
static int sessions[KINDS];

/* --- what a short process does ------------------------------------------------ */

static int code = -1;			/* a file with some */

static void *thread(void *arg)
{
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*p = 1;
	return arg;
}

/* Its mappings, pages and threads end with it, and what it is in when it ends. */
static void short_process(unsigned int i)
{
	char *argv[] = { "t_budgets", "nothing", NULL };
	pthread_t id;
	char *p;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	p = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, code, 0);
	munmap(p, i % 3 ? 8192 : 4096);
	p = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned int page = 0; page < PAGES; page++)
		p[page * 4096] = 1;
	munmap(p + 4096, 4096);
	syscall(SYS_brk, 0);
	if (i % 16 == 1 && !pthread_create(&id, NULL, thread, NULL))
		pthread_join(id, NULL);
	if (i % 16 == 2)
		execv("/proc/self/exe", argv);
	if (i % 16 == 3)
		kill(getpid(), SIGKILL);
	syscall(SYS_exit_group, 0);
}

static void processes(unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++) {
		pid_t pid = fork();

		if (pid < 0)
			bail_out("fork");
		if (!pid)
			short_process(i);
		waitpid(pid, NULL, 0);
	}
}

/* --- sessions ------------------------------------------------------------------- */

static uint64_t events(int fd, const char *const *event)
{
	uint64_t set = 0;

	for (; *event; event++)
		set |= 1ULL << event_id(fd, *event);
	return set;
}

static int configured(uint32_t flags, const char *const *event, uint64_t live)
{
	struct memtap_filter_item me;
	struct memtap_config c = config_self(&me, 0);
	int fd = session_open();

	c.events = events(fd, event);
	c.flags = flags | MEMTAP_CFG_CHILDREN;
	c.mem_stacks = SMALL;
	c.mem_counters = SMALL;
	c.mem_tasks = SMALL;
	c.mem_live = live;
	if (flags & MEMTAP_CFG_ROWS)
		c.mem_unwind = SMALL;
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &c), "CONFIGURE");
	return fd;
}

/* exit_group() begins, and never ends: the table of pairs must not run full of it. */
static void attach_pairs(int fd)
{
	struct memtap_attach read = {
		.size = sizeof(read), .kind = MEMTAP_ATTACH_PAIR,
		.name = "syscalls:sys_enter_brk..syscalls:sys_exit_brk",
		.config = perf_id("syscalls/sys_enter_brk"),
		.end_config = perf_id("syscalls/sys_exit_brk"),
	};
	struct memtap_attach end = {
		.size = sizeof(end), .kind = MEMTAP_ATTACH_PAIR,
		.name = "syscalls:sys_enter_exit_group..syscalls:sys_exit_exit_group",
		.config = perf_id("syscalls/sys_enter_exit_group"),
		.end_config = perf_id("syscalls/sys_exit_exit_group"),
	};

	session_must(ioctl(fd, MEMTAP_ATTACH, &read), "ATTACH brk");
	session_must(ioctl(fd, MEMTAP_ATTACH, &end), "ATTACH exit_group");
}

static void begin_sessions(void)
{
	const char *const maps[] = { "brk", "mmap", NULL };
	const char *const live[] = { "mmap", "munmap", "mremap", "mprotect", NULL };
	const char *const faults[] = { "minor-fault", "mremap", NULL };
	const char *const none[] = { NULL };
	const char *const brk[] = { "brk", NULL };

	sessions[ROWS] = configured(MEMTAP_CFG_USTACK | MEMTAP_CFG_ROWS, maps, 0);
	sessions[LIVE] = configured(MEMTAP_CFG_LIVE, live, 1 << 20);
	sessions[TOUCHED] = configured(MEMTAP_CFG_TOUCHED, faults, 1 << 16);
	sessions[PAIRS] = configured(0, none, 0);
	attach_pairs(sessions[PAIRS]);
	sessions[RING] = configured(MEMTAP_CFG_RING, brk, 0);
	for (unsigned int k = 0; k < KINDS; k++)
		session_must(session_run(sessions[k], MEMTAP_START), names[k]);
}

/* --- accounts --------------------------------------------------------------------- */

struct account {
	struct memtap_rec_memory memory;
	struct memtap_rec_touched_sum touched;
	uint64_t mappings, spaces, pending;
	uint64_t full;			/* events whose task had no room */
	uint64_t events, lost;		/* counted, and lost for want of room */
};

static void add_event(struct account *a, const struct memtap_rec_event *e)
{
	a->full += e->part[MEMTAP_PART_TASKS_FULL];
	a->events += e->counted;
	a->lost += e->lost[MEMTAP_LOST_TABLE] + e->lost[MEMTAP_LOST_THREADS] +
		   e->lost[MEMTAP_LOST_RING];
}

static struct account account_of(int fd)
{
	struct bytes b = session_read(fd, 1 << 20);
	const struct memtap_rec *rec;
	const struct memtap_rec_blocks *blocks;
	struct account a;
	size_t pos = 0;

	memset(&a, 0, sizeof(a));
	while ((rec = next_record(&b, &pos))) {
		if (rec->type == MEMTAP_REC_MEMORY)
			memcpy(&a.memory, rec, sizeof(a.memory));
		if (rec->type == MEMTAP_REC_TOUCHED_SUM)
			memcpy(&a.touched, rec, sizeof(a.touched));
		if (rec->type == MEMTAP_REC_EVENT)
			add_event(&a, (const void *)rec);
		a.spaces += rec->type == MEMTAP_REC_SPACE;
		a.pending += rec->type == MEMTAP_REC_PENDING;
		blocks = (const void *)rec;
		for (unsigned int i = 0; rec->type == MEMTAP_REC_BLOCKS && i < blocks->nr; i++)
			a.mappings += !!(blocks->at[i].flags & MEMTAP_BLOCK_MAPPING);
	}
	free(b.at);
	return a;
}

static void say(unsigned int done)
{
	struct account a[KINDS];

	for (unsigned int k = 0; k < KINDS; k++)
		a[k] = account_of(sessions[k]);
#define N(x)	((unsigned long long)(x))
	diag("after %u processes: unwinding %llu of %llu bytes, %llu refused; tasks %llu of %llu; "
	     "maps and files %llu of %llu bytes; stacks %llu, counters %llu", done,
	     N(a[ROWS].memory.unwind_used), N(a[ROWS].memory.unwind_size),
	     N(a[ROWS].memory.unwind_lost), N(a[ROWS].memory.tasks_used),
	     N(a[ROWS].memory.tasks_size), N(a[ROWS].memory.maps_used),
	     N(a[ROWS].memory.maps_size), N(a[ROWS].memory.stacks_used),
	     N(a[ROWS].memory.counters_used));
	diag("live: %llu mappings, most at one time %llu of %llu; threads %llu of %llu; "
	     "spaces %llu, without room %llu", N(a[LIVE].mappings),
	     N(a[LIVE].memory.live_maps_used), N(a[LIVE].memory.live_maps_size),
	     N(a[LIVE].memory.threads_used), N(a[LIVE].memory.threads_size), N(a[LIVE].spaces),
	     N(a[LIVE].memory.spaces_lost));
	diag("touched: places %llu of %llu, refused %llu; pairs under way %llu; children without "
	     "room in a filter %llu", N(a[TOUCHED].touched.used), N(a[TOUCHED].touched.size),
	     N(a[TOUCHED].touched.refused), N(a[PAIRS].pending),
	     N(a[ROWS].memory.children_lost));
	fflush(stdout);
}

/* What ends with a process: some of it a grace period later, or by a work. */
static bool is_as_before(const struct account *rows, const struct account *live)
{
	const struct account r = account_of(sessions[ROWS]), l = account_of(sessions[LIVE]);

	return r.memory.unwind_used == rows->memory.unwind_used &&
	       l.memory.threads_used == live->memory.threads_used &&
	       l.mappings == live->mappings;
}

static bool returns(const struct account *rows, const struct account *live)
{
	const int looks = 50;

	for (int i = 0; i < looks; i++) {
		if (is_as_before(rows, live))
			return true;
		usleep(100000);
	}
	return false;
}

/* The ring's events, read; how many. */
static uint64_t drain(int fd)
{
	static char room[1 << 20];
	struct memtap_events e;
	const struct memtap_one *one;
	uint64_t nr = 0;
	size_t at;

	do {
		memset(&e, 0, sizeof(e));
		e.size = sizeof(e);
		e.room = sizeof(room);
		e.ones_ptr = (uintptr_t)room;
		session_must(ioctl(fd, MEMTAP_EVENTS, &e), "EVENTS");
		for (at = 0; at < e.used; at += one->len, nr++)
			one = (const void *)(room + at);
	} while (e.more);
	return nr;
}

/* --- claims ----------------------------------------------------------------------- */

static void kept_by_design(const struct account *then, const struct account *now,
			   unsigned int nr, unsigned int execs)
{
	const struct memtap_rec_memory *m = &now[ROWS].memory, *l = &now[LIVE].memory;
	const uint64_t tasks = m->tasks_used - then[ROWS].memory.tasks_used;
	const uint64_t spaces = now[LIVE].spaces - then[LIVE].spaces,
		       lost = l->spaces_lost - then[LIVE].memory.spaces_lost;

	if (m->tasks_used < m->tasks_size)
		is_u64(tasks, nr + execs, "tasks: one for each program of each process, kept");
	else
		ok(now[ROWS].full, "tasks: as many as there is room for, then events say so");
	/* address spaces that the children's are copies of are known, and so are theirs */
	is_u64(lost, 0, "address spaces: each program had room for its own");
	ok(spaces && spaces <= nr + execs, "address spaces: %llu kept of %u: of those that ended "
	   "as many as there is room for", N(spaces), nr + execs);
	ok(now[PAIRS].pending <= 4096, "pairs: what never ends is no more than the table has");
	ok(now[TOUCHED].touched.used <= now[TOUCHED].touched.size,
	   "touched: no more places than there are");
	is_u64(now[TOUCHED].touched.refused, 0, "touched: places of the dead are taken again");
}

static unsigned int execs_of(unsigned int from, unsigned int to)
{
	unsigned int nr = 0;

	for (unsigned int i = from; i < to; i++)
		nr += i % 16 == 2;
	return nr;
}

static void test_processes(unsigned int times)
{
	struct account then[KINDS], now[KINDS];
	uint64_t in_ring = 0;
	unsigned int done = WARM_UP, next;

	begin_sessions();
	processes(0, WARM_UP);
	sleep(1);
	for (unsigned int k = 0; k < KINDS; k++)
		then[k] = account_of(sessions[k]);
	in_ring += drain(sessions[RING]);
	say(done);
	for (unsigned int part = 1; part <= 4; part++) {
		for (; done < WARM_UP + times * (uint64_t)part / 4; done = next) {
			next = done + 200 < WARM_UP + times * (uint64_t)part / 4 ? done + 200 :
			       WARM_UP + times * (uint64_t)part / 4;
			processes(done, next);
			in_ring += drain(sessions[RING]);
		}
		ok(returns(&then[ROWS], &then[LIVE]),
		   "after %u of 4 parts: code, threads and mappings of all are given back", part);
		say(done);
	}
	for (unsigned int k = 0; k < KINDS; k++)
		now[k] = account_of(sessions[k]);
	is_u64(now[ROWS].memory.unwind_used, then[ROWS].memory.unwind_used,
	       "the budget for unwinding is as before");
	is_u64(now[ROWS].memory.unwind_lost, then[ROWS].memory.unwind_lost, "it refused nothing");
	is_u64(now[LIVE].memory.threads_used, then[LIVE].memory.threads_used,
	       "slots of threads are as before");
	ok(now[LIVE].memory.live_maps_used < 64,
	   "mappings: never more than those of the few that lived at one time");
	is_u64(now[ROWS].memory.children_lost + now[LIVE].memory.children_lost, 0,
	       "the filter had room for all children");
	is_u64(in_ring + drain(sessions[RING]), now[RING].events, "each event was in the ring");
	is_u64(now[RING].lost, 0, "which never ran full");
	kept_by_design(then, now, times, execs_of(WARM_UP, done));
	for (unsigned int k = 0; k < KINDS; k++) {
		struct bytes b;

		session_must(session_run(sessions[k], MEMTAP_STOP), "STOP");
		b = session_read(sessions[k], 1 << 20);
		ok(sums_hold(&b), "%s: sums hold", names[k]);
		free(b.at);
		close(sessions[k]);
	}
}

/* --- slots of those that die -------------------------------------------------------- */

static bool release(int fd)
{
	struct memtap_held h = { .size = sizeof(h) };

	for (int i = 0; i < 300; i++) {
		if (!ioctl(fd, MEMTAP_HELD, &h)) {
			h.release = h.tid;
			h.release_id = h.id;
			ioctl(fd, MEMTAP_HELD, &h);
			return true;
		}
		usleep(10000);
	}
	return false;
}

static void test_deaths(void)
{
	const char *const brk[] = { "brk", NULL };
	struct memtap_info info = { .size = sizeof(info) };
	struct memtap_held h = { .size = sizeof(h) };
	unsigned int held = 0;
	int fd;

	session_must(ioctl(control, MEMTAP_INFO, &info), "INFO");
	if (!(info.features & MEMTAP_FEATURE_DEATHS)) {
		skip("deaths", "this kernel does not tell of them");
		return;
	}
	fd = configured(MEMTAP_CFG_DEATHS, brk, 0);
	session_must(session_run(fd, MEMTAP_START), "START");
	for (unsigned int i = 0; i < DEATHS; i++) {
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_DUMPABLE, 0);
			raise(SIGTERM);
		}
		held += release(fd);
		waitpid(pid, NULL, 0);
	}
	is_u64(held, DEATHS, "each that dies is held: slots of deaths come back");
	fails(ioctl(fd, MEMTAP_HELD, &h), ENOENT, "and nobody is held any more");
	close(fd);
}

/* --- what an ATTACH takes that fails -------------------------------------------------- */

static void test_attach(void)
{
	struct memtap_step keep[] = {
		{ .op = MEMTAP_STEP_ARG }, { .op = MEMTAP_STEP_KEEP, .type = 8 },
	};
	struct memtap_attach a = {
		.size = sizeof(a), .kind = MEMTAP_ATTACH_KPROBE, .flags = MEMTAP_ATTACH_RETURN,
		.name = "no_such_function", .nr_steps = 2, .nr_entry = 2, .nr_shown = 1,
		.steps_ptr = (uintptr_t)keep,
	};
	const char *const brk[] = { "brk", NULL };
	struct memtap_filter_item me;
	struct memtap_config c = config_self(&me, 0);
	struct account acc;
	int fd = configured(0, brk, 0), other = session_open();

	c.events = events(fd, brk);
	session_must(ioctl(other, MEMTAP_CONFIGURE, &c), "CONFIGURE");
	session_must(session_run(other, MEMTAP_START), "START");
	acc = account_of(other);
	is_u64(acc.memory.total, c.mem_total, "a session takes what CONFIGURE said");
	close(other);
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &c), "CONFIGURE");
	for (int i = 0; i < 10; i++)
		if (!ioctl(fd, MEMTAP_ATTACH, &a))
			bail_out("no_such_function is there");
	ok(errno == ENOENT, "there is no such function");
	session_must(session_run(fd, MEMTAP_START), "START");
	acc = account_of(fd);
	is_u64(acc.memory.total, c.mem_total, "an ATTACH that failed took nothing");
	close(fd);
}

/* --- memory for deep stacks ------------------------------------------------------------ */

static __attribute__((noinline)) long deeper(unsigned int left)
{
	long r = left ? deeper(left - 1) : syscall(SYS_brk, 0);

	__asm__ volatile("" ::: "memory");
	return r;
}

static void configure_depth(int fd, uint32_t depth)
{
	const char *const brk[] = { "brk", NULL };
	struct memtap_filter_item me;
	struct memtap_config c = config_self(&me, 0);

	c.events = events(fd, brk);
	c.flags = MEMTAP_CFG_USTACK;
	c.depth = depth;
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &c), "CONFIGURE");
}

static int on_brk(uint32_t depth)
{
	int fd = session_open();

	configure_depth(fd, depth);
	session_must(session_run(fd, MEMTAP_START), "START");
	return fd;
}

/* A stack of the session that stays, whose memory the other one has freed, is a crash. */
static void test_depth(void)
{
	const struct memtap_rec_event *e;
	struct bytes b;
	int shallow = on_brk(0), deep = on_brk(1000);
	unsigned int areas;

	deeper(DEEP);
	close(deep);
	deeper(DEEP);
	b = session_read(shallow, 1 << 20);
	e = find_event(&b, "brk");
	ok(e && e->part[MEMTAP_PART_DEPTH] >= 2,
	   "a session with stacks of the default depth goes on when a deep one has left");
	free(b.at);
	close(shallow);

	shallow = session_open();
	configure_depth(shallow, 0);
	areas = held_areas();
	configure_depth(shallow, 1000);
	ok(held_areas() > areas, "a session that wants deep stacks has memory for them");
	configure_depth(shallow, 0);
	ok(kernel_forgot(areas), "one that wants them no more has given it back");
	close(shallow);
}

int main(int argc, char **argv)
{
	const unsigned int times = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned int areas;
	struct state before, after;

	if (argc > 1 && !strcmp(argv[1], "nothing"))
		return 0;
	if (!times)
		bail_out("usage: t_budgets TIMES");
	heap_stays();
	code = open("/proc/self/exe", O_RDONLY);
	control = session_open();
	test_attach();			/* (and what the kernel makes once is there) */
	areas = held_areas();
	before = look();
	test_depth();
	test_deaths();
	test_processes(times);
	test_attach();
	after = look();
	ok(same(&before, &after), "hooks, their users and sessions are as before");
	ok(kernel_forgot(areas), "so is what the module has of the kernel's memory");
	return done_testing();
}
