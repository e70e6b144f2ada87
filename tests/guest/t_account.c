// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Check that every event is counted, filtered, or lost for a named reason, also with small tables,
 * deep stacks and many events.
 */
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "session.h"
#include "workload.h"

#define PATHS_BITS	11
#define PATHS		(1U << PATHS_BITS)	/* different stacks */
#define CALLS		(2 * PATHS)
#define CHILDREN	80
#define DEEP		100

/* A stack for each number: its bits choose the way down. */
WL_FN void wl_down(unsigned int path, unsigned int left);

WL_FN void wl_left(unsigned int path, unsigned int left)
{
	wl_down(path >> 1, left - 1);
}

WL_FN void wl_right(unsigned int path, unsigned int left)
{
	wl_down(path >> 1, left - 1);
}

WL_FN void wl_down(unsigned int path, unsigned int left)
{
	if (!left)
		wl_syscall3(SYS_brk, 0, 0, 0);
	else if (path & 1)
		wl_right(path, left);
	else
		wl_left(path, left);
}

static void take_all_paths(void)
{
	unsigned int i;

	for (i = 0; i < CALLS; i++)
		wl_down(i % PATHS, PATHS_BITS);
}

/* Other tests leave processors to others; here every event is this one's. */
static void stay_on_one_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static unsigned int brk_id;

/* A session on brk() of this process; @mem and @depth: 0 for the default. */
static int start(uint64_t stacks, uint64_t counters, uint64_t tasks, uint32_t depth,
		 uint32_t flags, bool filter)
{
	struct memtap_filter_item me;
	struct memtap_config config = config_self(&me, 1ULL << brk_id);
	int fd = session_open();

	config.mem_stacks = stacks;
	config.mem_counters = counters;
	config.mem_tasks = tasks;
	config.depth = depth;
	config.flags |= flags;
	config.filter_nr = filter;
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	session_must(session_run(fd, MEMTAP_START), "START");
	return fd;
}

static struct bytes stop(int fd)
{
	struct bytes b;

	session_must(session_run(fd, MEMTAP_STOP), "STOP");
	b = session_read(fd, 1 << 16);
	is_whole(&b, "the snapshot is whole");
	adds_up(&b, "seen == counted + filtered + lost; the counters add up to counted");
	close(fd);
	return b;
}

static const struct memtap_rec_event *brk_of(const struct bytes *b)
{
	const struct memtap_rec_event *ev = find_event(b, "brk");

	if (!ev)
		bail_out("no record of the event brk");
	return ev;
}

static unsigned int stacks_in(const struct bytes *b, unsigned int want_flags)
{
	const struct memtap_rec *rec;
	size_t pos = 0;
	unsigned int n = 0;

	while ((rec = next_record(b, &pos)))
		if (rec->type == MEMTAP_REC_STACK) {
			const struct memtap_rec_stack *s = (const void *)rec;

			n += (s->flags & want_flags) == want_flags;
		}
	return n;
}

static void test_roomy(void)
{
	struct bytes b = { NULL, 0 };
	const struct memtap_rec_event *ev;
	int fd = start(0, 0, 0, 0, 0, true);

	diag("tables with room for all");
	take_all_paths();
	b = stop(fd);
	ev = brk_of(&b);
	is_u64(ev->counted, CALLS, "every call is counted");
	is_u64(sum_lost(ev), 0, "none is lost");
	is_u64(stacks_in(&b, MEMTAP_STACK_USER), PATHS, "every path is a stack of its own");
	free(b.at);
}

/* Each refers to what it names: no id without its record. */
static void test_references(const struct bytes *b)
{
	const struct memtap_rec *rec;
	const struct memtap_rec_counter *c;
	static unsigned char known[1 << 20];
	size_t pos = 0;
	unsigned int missing = 0;

	memset(known, 0, sizeof(known));
	while ((rec = next_record(b, &pos)))
		if (rec->type == MEMTAP_REC_STACK)
			known[((const struct memtap_rec_stack *)rec)->id % sizeof(known)] |= 1;
		else if (rec->type == MEMTAP_REC_TASK)
			known[((const struct memtap_rec_task *)rec)->id % sizeof(known)] |= 2;
	for (pos = 0; (rec = next_record(b, &pos));) {
		if (rec->type != MEMTAP_REC_COUNTER)
			continue;
		c = (const void *)rec;
		missing += c->ustack >= MEMTAP_STACK_FIRST &&
			   !(known[c->ustack % sizeof(known)] & 1);
		missing += c->kstack >= MEMTAP_STACK_FIRST &&
			   !(known[c->kstack % sizeof(known)] & 1);
		missing += c->task >= MEMTAP_TASK_FIRST && !(known[c->task % sizeof(known)] & 2);
	}
	is_u64(missing, 0, "every stack and task that a counter names is there");
}

static void test_small_counters(void)
{
	const struct memtap_rec_event *ev;
	struct bytes b;
	int fd = start(0, 1, 0, 0, 0, true);

	diag("counters with room for few");
	take_all_paths();
	b = stop(fd);
	ev = brk_of(&b);
	ok(ev->lost[MEMTAP_LOST_TABLE] > CALLS / 2, "most calls are lost: the table is full");
	is_u64(ev->counted + ev->lost[MEMTAP_LOST_TABLE], CALLS, "every call is accounted for");
	test_references(&b);
	free(b.at);
}

static void test_small_stacks(void)
{
	const struct memtap_rec_event *ev;
	const struct memtap_rec *rec;
	struct bytes b;
	uint64_t nowhere = 0;
	size_t pos = 0;
	int fd = start(1, 0, 0, 0, 0, true);

	diag("stacks with room for few");
	take_all_paths();
	b = stop(fd);
	ev = brk_of(&b);
	is_u64(ev->counted, CALLS, "every call is counted, with a stack or without");
	while ((rec = next_record(&b, &pos)))
		if (rec->type == MEMTAP_REC_COUNTER &&
		    ((const struct memtap_rec_counter *)rec)->ustack == MEMTAP_STACK_LOST)
			nowhere += ((const struct memtap_rec_counter *)rec)->count;
	ok(nowhere > CALLS / 4, "many are counted under \"stack not kept\"");
	ok(ev->part[MEMTAP_PART_STACKS_FULL] >= nowhere, "and that is told");
	test_references(&b);
	free(b.at);
}

static void test_small_tasks(void)
{
	const struct memtap_rec_event *ev;
	const struct memtap_rec_memory *mem;
	const struct memtap_rec *rec;
	struct bytes b;
	uint64_t nobody = 0;
	size_t pos = 0;
	unsigned int i;
	int fd = start(0, 0, 1, 0, 0, false);

	diag("tasks with room for few, system-wide");
	for (i = 0; i < CHILDREN; i++)
		if (!fork()) {
			wl_down(i, PATHS_BITS);
			_exit(0);
		} else {
			wait(NULL);
		}
	b = stop(fd);
	ev = brk_of(&b);
	ok(ev->counted >= CHILDREN, "every child is counted");
	is_u64(sum_lost(ev), 0, "none is lost");
	while ((rec = next_record(&b, &pos)))
		if (rec->type == MEMTAP_REC_COUNTER &&
		    ((const struct memtap_rec_counter *)rec)->task == MEMTAP_TASK_LOST)
			nobody += ((const struct memtap_rec_counter *)rec)->count;
	is_u64(nobody, ev->part[MEMTAP_PART_TASKS_FULL], "what nobody's name stands at is told");
	mem = find_record(&b, MEMTAP_REC_MEMORY);
	ok(mem && mem->tasks_used <= mem->tasks_size, "the table holds what it has room for");
	ok(mem && (nobody || mem->tasks_size >= CHILDREN), "and it was too small, or had room");
	test_references(&b);
	free(b.at);
}

static void test_depth(void)
{
	const struct memtap_rec_event *ev;
	const struct memtap_rec *rec;
	struct bytes b;
	size_t pos = 0;
	unsigned int wrong = 0;
	int fd = start(0, 0, 0, 5, 0, true);

	diag("stacks cut at 5 frames");
	take_all_paths();
	b = stop(fd);
	ev = brk_of(&b);
	is_u64(ev->counted, CALLS, "every call is counted");
	is_u64(ev->part[MEMTAP_PART_DEPTH], CALLS, "every stack is told to be cut");
	while ((rec = next_record(&b, &pos)))
		if (rec->type == MEMTAP_REC_STACK) {
			const struct memtap_rec_stack *s = (const void *)rec;

			if (s->flags & MEMTAP_STACK_USER)
				wrong += s->nr != 5 || !(s->flags & MEMTAP_STACK_DEPTH);
		}
	is_u64(wrong, 0, "each has 5 frames, and the flag");
	/* five innermost frames: wl_down and four choices, of which two are functions */
	ok(stacks_in(&b, MEMTAP_STACK_USER) < PATHS, "stacks that are the same now are one");
	free(b.at);
}

/* A process that does not match: seen, and nothing else. */
static void test_filtered(void)
{
	const struct memtap_rec_event *ev;
	struct bytes b;
	int fd = start(0, 0, 0, 0, MEMTAP_CFG_THREADS | MEMTAP_CFG_HIST, true);

	diag("filters");
	if (!fork()) {
		take_all_paths();
		_exit(0);
	}
	wait(NULL);
	wl_down(1, PATHS_BITS);
	b = stop(fd);
	ev = brk_of(&b);
	ok(ev->filtered >= CALLS, "another process's calls are filtered");
	is_u64(ev->counted, 1, "this one's is counted");
	is_u64(sum_lost(ev), 0, "a filtered call is no loss");
	free(b.at);
}

/* Who asks leaves itself out: what the process does is filtered, and told apart. */
static void test_not_self(void)
{
	const struct memtap_rec_event *ev;
	struct memtap_stats st = { .size = sizeof(st) };
	struct memtap_info info = { .size = sizeof(info) };
	struct bytes b;
	int fd = start(0, 0, 0, 0, MEMTAP_CFG_NOT_SELF, false);

	diag("all but this process");
	ok(!ioctl(fd, MEMTAP_INFO, &info) && info.features & MEMTAP_FEATURE_NOT_SELF,
	   "this module can leave out who asks");
	take_all_paths();
	if (!fork()) {
		take_all_paths();
		_exit(0);
	}
	wait(NULL);
	b = stop(fd);
	ev = brk_of(&b);
	is_u64(ev->own, CALLS, "the calls of this process are its own");
	is_u64(ev->own, ev->filtered, "nothing else is filtered");
	ok(ev->counted >= CALLS, "what it forked is another one, and counts");
	is_u64(ev->seen, ev->counted + ev->filtered + sum_lost(ev), "it adds up");
	fd = start(0, 0, 0, 0, MEMTAP_CFG_NOT_SELF | MEMTAP_CFG_ONLY_KERNEL, false);
	take_all_paths();
	ok(!ioctl(fd, MEMTAP_STATS, &st) && st.filtered >= CALLS && !st.own,
	   "what would not pass anyway is not left out for being its own");
	close(fd);
	free(b.at);
}

static void test_sizes(void)
{
	const struct memtap_rec_event *ev;
	struct memtap_filter_item me;
	struct memtap_config config = config_self(&me, 0);
	struct bytes b;
	int fd = session_open(), i;
	long p;

	diag("sizes");
	config.events = 1ULL << event_id(fd, "mmap");
	config.min_size = 8192;
	config.max_size = 65536;
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	session_must(session_run(fd, MEMTAP_START), "START");
	for (i = 1; i <= 32; i++) {
		p = wl_mmap(i * 4096L, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS);
		wl_syscall3(SYS_munmap, p, i * 4096L, 0);
	}
	b = stop(fd);
	ev = find_event(&b, "mmap");
	is_u64(ev ? ev->counted : 0, 15, "sizes from 2 to 16 pages count");
	ok(ev && ev->filtered >= 17, "the others are filtered");
	free(b.at);
}

/* Calls 100 deep: the kernel keeps 64 pending returns of a task. */
WL_FN int wl_hole(int left)
{
	return left > 1 ? wl_hole(left - 1) + 1 : 1;
}

/* Offset of a function in this program's file, by its mapping. */
static uint64_t file_offset(const void *fn)
{
	unsigned long start, end, offset, want = (unsigned long)fn;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	uint64_t found = 0;

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    want >= start && want < end)
			found = want - start + offset;
	if (f)
		fclose(f);
	return found;
}

static void attach_hole(int fd, uint32_t flags)
{
	struct memtap_attach a = {
		.size = sizeof(a),
		.kind = MEMTAP_ATTACH_UPROBE,
		.flags = flags,
		.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
		.offset = file_offset(wl_hole),
		.name = "hole",
	};

	session_must(ioctl(fd, MEMTAP_ATTACH, &a), "ATTACH");
	close(a.fd);
}

static __u64 features(int fd)
{
	struct memtap_info info = { .size = sizeof(info) };

	session_must(ioctl(fd, MEMTAP_INFO, &info), "INFO");
	return info.features;
}

static void test_returns(void)
{
	const struct memtap_rec_event *ev;
	struct memtap_filter_item me;
	struct memtap_config config = config_self(&me, 0);
	struct bytes b;
	int fd = session_open();

	if (sizeof(long) == 4 && !(features(fd) & MEMTAP_FEATURE_UPROBE32)) {
		diag("probes on returns would crash this program on this kernel");
		close(fd);
		return;
	}
	diag("more calls than the kernel reports returns of");
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	attach_hole(fd, MEMTAP_ATTACH_RETURN);
	session_must(session_run(fd, MEMTAP_START), "START");
	wl_hole(10);
	wl_hole(DEEP);
	b = stop(fd);
	ev = find_event(&b, "hole");
	is_u64(ev ? ev->seen : 0, DEEP + 10, "every call is seen");
	ok(ev && ev->counted >= 60 && ev->counted <= 74, "some 64 + 10 returns are counted");
	ok(ev && ev->counted + sum_lost(ev) == DEEP + 10 && ev->lost[MEMTAP_LOST_RETURN] > 0,
	   "the others are lost, for want of a return");
	free(b.at);
}

/*
 * A probe on what memtap itself calls: refused as recursion, or missed by the
 * kernel; either way accounted for, and the machine lives.
 */
static void test_recursion(void)
{
	static const char *const ours[] = {
		"stack_trace_save", "save_stack_trace", "copy_from_user_nofault",
		"unwind_next_frame", "__unwind_start",
	};
	struct memtap_filter_item me;
	struct memtap_config config = config_self(&me, 1ULL << brk_id);
	struct memtap_attach a;
	unsigned int i, attached = 0;
	struct bytes b;
	int fd = session_open();

	diag("probes on what memtap calls");
	config.filter_nr = 0;
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		a = (struct memtap_attach){ .size = sizeof(a), .kind = MEMTAP_ATTACH_KPROBE };
		strcpy(a.name, ours[i]);
		attached += !ioctl(fd, MEMTAP_ATTACH, &a);
	}
	a = (struct memtap_attach){
		.size = sizeof(a), .kind = MEMTAP_ATTACH_TRACEPOINT, .name = "irq:softirq_raise",
	};
	attached += !ioctl(fd, MEMTAP_ATTACH, &a);
	session_must(session_run(fd, MEMTAP_START), "START");
	take_all_paths();
	b = stop(fd);
	is_u64(brk_of(&b)->lost[MEMTAP_LOST_RECURSION], 0, "brk() is not lost for it");
	if (attached)
		diag("%u of them could be attached", attached);
	ok(attached > 0, "at least one could be attached");
	free(b.at);
}

/* Without those that this kernel has nothing to hook for. */
static __u64 all_there_are(__u32 nr)
{
	__u64 events = 0;
	__u32 i;

	for (i = 0; i < nr; i++) {
		struct memtap_config config = { .size = sizeof(config), .events = 1ULL << i };
		int fd = session_open();

		session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
		if (!session_run(fd, MEMTAP_START))
			events |= config.events;
		close(fd);
	}
	return events;
}

/* All kinds at once, everything, in tables that are too small for it. */
static void test_crowd(void)
{
	struct memtap_config config = {
		.size = sizeof(config),
		.flags = MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK | MEMTAP_CFG_THREADS |
			 MEMTAP_CFG_HIST | MEMTAP_CFG_ADDR,
		.mem_stacks = 64 << 10,
		.mem_counters = 64 << 10,
		.mem_tasks = 16 << 10,
		.addr_shift = 12,
	};
	struct memtap_info info = { .size = sizeof(info) };
	struct bytes b;
	int fd = session_open(), i, err;

	diag("all events, of everybody, with little room");
	session_must(ioctl(fd, MEMTAP_INFO, &info), "INFO");
	config.events = (1ULL << info.nr_events) - 1;
	session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
	err = session_run(fd, MEMTAP_START);
	if (err) {
		config.events = all_there_are(info.nr_events);
		session_must(ioctl(fd, MEMTAP_CONFIGURE, &config), "CONFIGURE");
		err = session_run(fd, MEMTAP_START);
	}
	session_must(err, "START");
	for (i = 0; i < 8; i++)
		if (!fork()) {
			take_all_paths();
			free(calloc(1, 4 << 20));
			_exit(0);
		}
	/* reading meanwhile disturbs nothing */
	for (i = 0; i < 8; i++) {
		b = session_read(fd, 333);
		if (whole(&b))
			ok(false, "a snapshot of the running session: %s", whole(&b));
		free(b.at);
		wait(NULL);
	}
	b = stop(fd);
	test_references(&b);
	ok(brk_of(&b)->counted + sum_lost(brk_of(&b)) >= 8 * CALLS, "everybody's calls are there");
	free(b.at);
}

int main(void)
{
	int fd = session_open();

	brk_id = event_id(fd, "brk");
	close(fd);
	heap_stays();
	stay_on_one_cpu();

	test_roomy();
	test_small_counters();
	test_small_stacks();
	test_small_tasks();
	test_depth();
	test_filtered();
	test_not_self();
	test_sizes();
	test_returns();
	test_recursion();
	test_crowd();
	return done_testing();
}

void wl_die(const char *what)
{
	bail_out(what);
	exit(1);
}
