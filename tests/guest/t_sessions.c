// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * t_sessions NR SEED: open, read, stop and kill NR random sessions, two at a time.  SEED and a
 * session's number determine its settings and calls, but not when it is killed.  The sums of
 * sessions that end normally must be consistent.  Afterwards nothing is attached, and the module
 * uses no more memory than before.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "t_device.h"

#define AT_ONCE		2
#define ROOM		(1 << 20)
#define MOST_STEPS	32
#define BUILTINS	64

#define NR(_array)	(sizeof(_array) / sizeof((_array)[0]))

/* How a session ended, as its process's exit status. */
enum end { FINE, REFUSED, WRONG_SUMS, WRONG_CALL, NO_DEVICE, ENDS };

static const char *const tracepoints[] = {
	"sched:sched_switch", "kmem:kmalloc", "kmem:mm_page_alloc", "irq:softirq_raise",
	"vmscan:mm_vmscan_lru_shrink_inactive", "vmscan:mm_vmscan_kswapd_wake",
	"timer:timer_start", "syscalls:sys_enter_read", "signal:signal_generate",
	"sched:sched_process_exit", "migrate:mm_migrate_pages", "compaction:mm_compaction_begin",
	"rcu:rcu_utilization", "workqueue:workqueue_execute_start", "kmem:rss_stat",
};

static const char *const functions[] = {
	"handle_mm_fault", "vfree", "__alloc_pages", "shrink_node", "do_exit", "wp_page_copy",
	"copy_process", "kmem_cache_free_bulk", "wake_up_process", "__free_pages", "kfree",
	"try_to_free_pages", "oom_kill_process", "exit_mmap", "swap_readpage", "rcu_do_batch",
	"ksys_write", "vmalloc", "__vmalloc_node_range",
};

static const char *const pairs[][2] = {
	{ "vmscan:mm_vmscan_direct_reclaim_begin", "vmscan:mm_vmscan_direct_reclaim_end" },
	{ "syscalls:sys_enter_read", "syscalls:sys_exit_read" },
	{ "irq:softirq_entry", "irq:softirq_exit" },
	{ "workqueue:workqueue_execute_start", "workqueue:workqueue_execute_end" },
	{ "syscalls:sys_enter_mmap", "syscalls:sys_exit_mmap" },
};

/* --- chance -------------------------------------------------------------------- */

static uint64_t below(uint64_t *chance, uint64_t n)
{
	*chance ^= *chance << 13;
	*chance ^= *chance >> 7;
	*chance ^= *chance << 17;
	return (*chance >> 11) % n;
}

static bool one_in(uint64_t *chance, unsigned int n)
{
	return !below(chance, n);
}

static void begin_chance(uint64_t *chance, uint64_t seed, uint64_t nr)
{
	*chance = (seed + 1) * 0x9e3779b97f4a7c15ULL ^ (nr + 1) * 0xd6e8feb86659fd93ULL;
	*chance |= 1;
	for (int i = 0; i < 8; i++)
		below(chance, 2);
}

/* --- a session's making ------------------------------------------------------------ */

struct session {
	int fd;
	uint64_t chance;
	uint32_t flags;
	char names[BUILTINS][MEMTAP_NAME_LEN], groups[BUILTINS][MEMTAP_NAME_LEN];
	unsigned int nr_builtins;
	struct memtap_step steps[MOST_STEPS];
	unsigned int nr_steps, nr_slots;
};

static void learn_builtins(struct session *s)
{
	struct memtap_event_info e = { .size = sizeof(e) };

	for (; e.id < BUILTINS && !ioctl(s->fd, MEMTAP_EVENT, &e); e.id++) {
		strcpy(s->names[e.id], e.name);
		strcpy(s->groups[e.id], e.group);
	}
	s->nr_builtins = e.id;
}

static void choose_flags(struct session *s)
{
	uint64_t *c = &s->chance;

	s->flags = one_in(c, 2) ? MEMTAP_CFG_KSTACK : 0;
	if (one_in(c, 2))
		s->flags |= MEMTAP_CFG_USTACK | (one_in(c, 2) ? MEMTAP_CFG_ROWS : 0);
	if (one_in(c, 4))
		s->flags |= MEMTAP_CFG_THREADS;
	if (one_in(c, 4))
		s->flags |= MEMTAP_CFG_OOM;
	switch (below(c, 8)) {
	case 0: case 1:
		s->flags &= ~(MEMTAP_CFG_USTACK | MEMTAP_CFG_ROWS);
		s->flags |= MEMTAP_CFG_OBJECTS | (one_in(c, 3) ? MEMTAP_CFG_TRACE : 0);
		if (s->flags & MEMTAP_CFG_KSTACK && one_in(c, 2))
			s->flags |= MEMTAP_CFG_CALL_SITE;
		break;
	case 2: case 3:
		s->flags |= MEMTAP_CFG_RING;
		break;
	case 4:
		s->flags |= MEMTAP_CFG_TOUCHED;
		break;
	case 5:
		s->flags |= MEMTAP_CFG_FILES | (one_in(c, 2) ? MEMTAP_CFG_MAPPINGS : 0);
		break;
	case 6:
		s->flags |= MEMTAP_CFG_HIST | (one_in(c, 2) ? MEMTAP_CFG_ADDR : 0);
		break;
	}
}

static bool is_of(const char *group, const char *const *groups)
{
	while (*groups && strcmp(group, *groups))
		groups++;
	return *groups;
}

static bool wants_builtin(struct session *s, unsigned int i)
{
	static const char *const objects[] = { "slab", "pages", "percpu", "vmalloc", NULL };
	static const char *const faults[] = { "fault", "mremap", "populate", NULL };

	if (s->flags & MEMTAP_CFG_OBJECTS)
		return is_of(s->groups[i], objects) && !one_in(&s->chance, 4);
	if (s->flags & MEMTAP_CFG_TOUCHED)
		return is_of(s->groups[i], faults);
	return one_in(&s->chance, 3);
}

static int configure(struct session *s)
{
	struct memtap_config c = { .size = sizeof(c), .flags = s->flags };

	for (unsigned int i = 0; i < s->nr_builtins; i++)
		if (wants_builtin(s, i))
			c.events |= 1ULL << i;
	if (!c.events)
		c.events = 1ULL << event_id(s->fd, s->flags & MEMTAP_CFG_OBJECTS ? "kmalloc" :
					    "minor-fault");
	if (one_in(&s->chance, 3)) {
		c.mem_stacks = 65536;
		c.mem_counters = 65536;
		c.mem_tasks = 65536;
		c.mem_live = 100000;
		if (s->flags & MEMTAP_CFG_ROWS)
			c.mem_unwind = 300000;
	}
	if (s->flags & MEMTAP_CFG_OBJECTS && one_in(&s->chance, 3))
		c.sample_bytes = 4096;
	if (s->flags & MEMTAP_CFG_ADDR)
		c.addr_shift = 12;
	if (s->flags & MEMTAP_CFG_USTACK && one_in(&s->chance, 4))
		c.depth = 1000;
	return ioctl(s->fd, MEMTAP_CONFIGURE, &c);
}

static void choose_objects(struct session *s)
{
	static const char *const caches[] = { "*", "kmalloc-*", "dentry", "[*", "" };
	struct memtap_objects o = { .size = sizeof(o), .flags = below(&s->chance, 2) };

	strcpy(o.cache, caches[below(&s->chance, NR(caches))]);
	ioctl(s->fd, MEMTAP_OBJECTS, &o);
}

/* --- steps of an event ---------------------------------------------------------------- */

static void step(struct session *s, unsigned int op, unsigned int type, unsigned int index,
		 uint64_t number)
{
	if (s->nr_steps < MOST_STEPS)
		s->steps[s->nr_steps++] = (struct memtap_step){
			.op = op, .type = type, .index = index, .number = number,
		};
}

static void keep(struct session *s)
{
	step(s, MEMTAP_STEP_KEEP, 8, s->nr_slots++, 0);
}

static void arguments(struct session *s)
{
	uint64_t *c = &s->chance;

	step(s, MEMTAP_STEP_ARG, 0, below(c, 6), 0);
	if (one_in(c, 2))
		step(s, MEMTAP_STEP_LOAD, 8, 0, 0);
	keep(s);
	if (!one_in(c, 2))
		return;
	step(s, MEMTAP_STEP_ARG, 0, below(c, 6), 0);
	step(s, MEMTAP_STEP_TEXT, 0, s->nr_slots++, below(c, 2));
}

static void fields(struct session *s)
{
	uint64_t *c = &s->chance;

	step(s, MEMTAP_STEP_FIELD, 8, 0, 8 + below(c, 8) * 4);
	keep(s);
	if (one_in(c, 2))
		step(s, MEMTAP_STEP_FIELD_TEXT, 0, s->nr_slots++, 8 | (1 + below(c, 200)) << 32);
	if (one_in(c, 2))
		step(s, MEMTAP_STEP_FIELD_LOC, 0, s->nr_slots++, 8);
}

static void make_steps(struct session *s, unsigned int kind)
{
	static const unsigned int facts[] = { 0, 1, 2, 3, 6, 7 };
	uint64_t *c = &s->chance;

	s->nr_steps = 0;
	s->nr_slots = 0;
	if (kind == MEMTAP_ATTACH_KPROBE)
		arguments(s);
	else
		fields(s);
	if (one_in(c, 2))
		step(s, MEMTAP_STEP_COMM, 0, s->nr_slots++, 0);
	if (one_in(c, 2)) {
		step(s, MEMTAP_STEP_FACT, 0, facts[below(c, NR(facts))], 0);
		keep(s);
	}
}

/* What only the end knows: how long it took, and what was returned. */
static void end_steps(struct session *s, struct memtap_attach *a)
{
	a->nr_entry = s->nr_steps;
	if (one_in(&s->chance, 2)) {
		step(s, MEMTAP_STEP_FACT, 0, MEMTAP_FACT_LATENCY, 0);
		keep(s);
		a->value_slot = s->nr_slots;
		a->value_unit = MEMTAP_UNIT_NS;
	}
	if (a->flags & MEMTAP_ATTACH_RETURN && one_in(&s->chance, 2)) {
		step(s, MEMTAP_STEP_RET, 0, 0, 0);
		keep(s);
	}
}

static void give_steps(struct session *s, struct memtap_attach *a)
{
	make_steps(s, a->kind);
	if (a->flags & MEMTAP_ATTACH_RETURN || a->kind == MEMTAP_ATTACH_PAIR)
		end_steps(s, a);
	a->nr_steps = s->nr_steps;
	a->steps_ptr = (uintptr_t)s->steps;
	a->nr_shown = s->nr_slots > 8 ? 8 : s->nr_slots;
	if (!(s->flags & MEMTAP_CFG_ADDR) && one_in(&s->chance, 3))
		a->by_slot = 1;
}

/* --- what is attached ------------------------------------------------------------------ */

static uint64_t tracepoint_id(const char *name)
{
	char path[MEMTAP_NAME_LEN];
	char *colon;

	snprintf(path, sizeof(path), "%s", name);
	colon = strchr(path, ':');
	if (colon)
		*colon = '/';
	return perf_id(path);
}

static void choose_what(struct session *s, struct memtap_attach *a)
{
	uint64_t *c = &s->chance;
	const char *const *pair;

	switch (below(c, 5)) {
	case 0:
		a->kind = MEMTAP_ATTACH_TRACEPOINT;
		strcpy(a->name, tracepoints[below(c, NR(tracepoints))]);
		a->config = tracepoint_id(a->name);
		break;
	case 1: case 2:
		a->kind = MEMTAP_ATTACH_KPROBE;
		strcpy(a->name, functions[below(c, NR(functions))]);
		a->flags = one_in(c, 2) ? MEMTAP_ATTACH_RETURN : 0;
		break;
	case 3:
		a->kind = MEMTAP_ATTACH_PAIR;
		pair = pairs[below(c, NR(pairs))];
		snprintf(a->name, sizeof(a->name), "%s..%s", pair[0], pair[1]);
		a->config = tracepoint_id(pair[0]);
		a->end_config = tracepoint_id(pair[1]);
		break;
	default:
		a->kind = MEMTAP_ATTACH_BUILTIN;
		strcpy(a->name, s->names[below(c, s->nr_builtins)]);
		break;
	}
}

static void attach_one(struct session *s)
{
	const bool keeps = s->flags & MEMTAP_CFG_OBJECTS;
	struct memtap_attach a = { .size = sizeof(a) };
	struct memtap_mark m = { .size = sizeof(m), .flags = MEMTAP_MARK_EVENT, .name = "event" };
	bool with;

	choose_what(s, &a);
	with = a.kind == MEMTAP_ATTACH_PAIR || a.kind == MEMTAP_ATTACH_BUILTIN ||
	       (s->flags & MEMTAP_CFG_RING) || !one_in(&s->chance, 3);
	if (keeps && (a.kind == MEMTAP_ATTACH_PAIR || a.kind == MEMTAP_ATTACH_BUILTIN))
		return;
	if (keeps && one_in(&s->chance, 2)) {
		a.flags = MEMTAP_ATTACH_MARK;
		with = false;
	}
	if (with)
		give_steps(s, &a);
	/* not each kernel has each function, nor memory for it just now */
	if (ioctl(s->fd, MEMTAP_ATTACH, &a) || !(a.flags & MEMTAP_ATTACH_MARK))
		return;
	m.event = a.event;
	ioctl(s->fd, MEMTAP_MARK, &m);
}

/* --- what is asked of a session that runs ------------------------------------------------ */

/* One who asks, with a chance and a place of its own. */
struct asker {
	int fd;
	uint64_t chance;
	char *room;
	volatile bool *stop;
};

static void ask_events(struct asker *k)
{
	struct memtap_events e = {
		.size = sizeof(e), .room = 4096 + below(&k->chance, 900000),
		.ones_ptr = (uintptr_t)k->room,
	};

	ioctl(k->fd, MEMTAP_EVENTS, &e);
}

static void ask_trace(struct asker *k)
{
	struct memtap_trace t = {
		.size = sizeof(t), .nr = below(&k->chance, 5000), .calls_ptr = (uintptr_t)k->room,
	};

	ioctl(k->fd, MEMTAP_TRACE, &t);
}

static void ask_similar(struct asker *k)
{
	struct memtap_similar s = {
		.size = sizeof(s), .cache = 16 + below(&k->chance, 60),
		.budget = below(&k->chance, 300000),
	};

	ioctl(k->fd, MEMTAP_SIMILAR, &s);
}

static void ask_ages(struct asker *k)
{
	struct memtap_ages a = {
		.size = sizeof(a), .pid = 1 + below(&k->chance, 400), .nr = 64,
		.regions_ptr = (uintptr_t)k->room,
	};
	int n = 0;

	while (n++ < 50 && !ioctl(k->fd, MEMTAP_AGES, &a) && a.page)
		a.nr = 64;
}

static void ask_flush(struct asker *k)
{
	struct memtap_ages a = { .size = sizeof(a), .flags = MEMTAP_AGES_FLUSH };

	if (one_in(&k->chance, 8))
		ioctl(k->fd, MEMTAP_AGES, &a);
}

static void ask_oom(struct asker *k)
{
	struct memtap_oom o = {
		.size = sizeof(o), .record_len = 60000, .record_ptr = (uintptr_t)k->room,
		.stack_len = one_in(&k->chance, 2) ? 40000 : 0, .stack_ptr = (uintptr_t)k->room,
	};

	ioctl(k->fd, MEMTAP_OOM, &o);
}

static void ask_symbol(struct asker *k)
{
	struct memtap_symbol y = {
		.size = sizeof(y), .addr = 0xffffffff81000000ULL + below(&k->chance, 0x2000000),
	};

	ioctl(k->fd, MEMTAP_SYMBOL, &y);
}

static void ask_mark(struct asker *k)
{
	static const uint32_t flags[] = { 0, 0, MEMTAP_MARK_OTHERS, MEMTAP_MARK_DRAIN };
	struct memtap_mark m = {
		.size = sizeof(m), .flags = flags[below(&k->chance, NR(flags))],
	};

	snprintf(m.name, sizeof(m.name), "m%u", (unsigned int)below(&k->chance, 4096));
	ioctl(k->fd, MEMTAP_MARK, &m);
}

static void ask_snapshot(struct asker *k)
{
	size_t sum = 0;
	ssize_t n;

	do {
		n = read(k->fd, k->room, 1 + below(&k->chance, ROOM));
		sum += n > 0 ? n : 0;
	} while (n > 0 && sum < 24U << 20);
}

static void ask_poll(struct asker *k)
{
	struct pollfd p = { .fd = k->fd, .events = POLLIN | POLLPRI };

	poll(&p, 1, 30);
}

static void ask_stats(struct asker *k)
{
	struct memtap_stats s = { .size = sizeof(s), .event = below(&k->chance, 8) };
	struct memtap_hook_state h = { .size = sizeof(h), .index = below(&k->chance, 90) };

	ioctl(k->fd, MEMTAP_STATS, &s);
	ioctl(k->fd, MEMTAP_HOOK, &h);
}

static void ask_nothing(struct asker *k)
{
	usleep(below(&k->chance, 30000));
}

static void ask(struct asker *k)
{
	static void (*const all[])(struct asker *k) = {
		ask_events, ask_events, ask_trace, ask_similar, ask_ages, ask_flush, ask_oom,
		ask_symbol, ask_mark, ask_snapshot, ask_snapshot, ask_poll, ask_stats,
		ask_nothing,
	};

	all[below(&k->chance, NR(all))](k);
}

static void *keep_asking(void *asker)
{
	struct asker *k = asker;

	while (!*k->stop)
		ask(k);
	return NULL;
}

/* --- one session --------------------------------------------------------------------------- */

/* Of a session that was stopped, and is read by nobody else: what is left of a snapshot first. */
static enum end check_sums(struct session *s)
{
	struct bytes b = session_read(s->fd, ROOM);

	free(b.at);
	b = session_read(s->fd, ROOM);
	if (whole(&b) || !sums_hold(&b)) {
		diag("%s", whole(&b) ? whole(&b) : "sums do not hold");
		return WRONG_SUMS;
	}
	return FINE;
}

static enum end use(struct session *s)
{
	static char rooms[2][ROOM];
	volatile bool stop = false;
	struct asker one = { s->fd, s->chance, rooms[0], &stop }, other = one;
	pthread_t thread;

	begin_chance(&other.chance, s->chance, 1);
	other.room = rooms[1];
	if (pthread_create(&thread, NULL, keep_asking, &other))
		return REFUSED;
	for (uint64_t n = 2 + below(&one.chance, 30); n; n--)
		ask(&one);
	if (one_in(&one.chance, 2)) {
		session_run(s->fd, MEMTAP_STOP);
		for (uint64_t n = below(&one.chance, 6); n; n--)
			ask(&one);
	}
	stop = true;
	pthread_join(thread, NULL);
	session_run(s->fd, MEMTAP_STOP);
	return check_sums(s);
}

/* A kernel that cannot do it, or has no memory for it now, refuses; nothing else is allowed. */
static enum end refused(struct session *s, const char *what)
{
	switch (errno) {
	case ENOMEM: case EDQUOT: case EOPNOTSUPP: case ENOENT: case ENXIO: case EBUSY:
		return REFUSED;
	}
	diag("%s of flags %#x: %s", what, s->flags, strerror(errno));
	return WRONG_CALL;
}

static enum end live(uint64_t seed, unsigned int nr)
{
	static struct session s;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	begin_chance(&s.chance, seed, nr);
	s.fd = open(MEMTAP_DEVICE, O_RDWR | O_CLOEXEC);
	if (s.fd < 0)
		return errno == ENOMEM ? REFUSED : NO_DEVICE;
	learn_builtins(&s);
	choose_flags(&s);
	if (configure(&s))
		return refused(&s, "CONFIGURE");
	if (s.flags & MEMTAP_CFG_OBJECTS && one_in(&s.chance, 2))
		choose_objects(&s);
	for (uint64_t n = s.flags & MEMTAP_CFG_TOUCHED ? 0 : below(&s.chance, 4); n; n--)
		attach_one(&s);
	if (session_run(s.fd, MEMTAP_START))
		return refused(&s, "START");
	return use(&s);
}

/* --- all of them ---------------------------------------------------------------------------- */

struct tally {
	unsigned int begun, killed, ends[ENDS];
};

static void account_for(struct tally *t, int status, unsigned int nr)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
		t->killed++;
		return;
	}
	t->ends[WIFEXITED(status) && WEXITSTATUS(status) < ENDS ? WEXITSTATUS(status) :
		WRONG_CALL]++;
	if (status && status != REFUSED << 8)
		diag("session %u ended with status %#x", nr, status);
}

/*
 * Is session @nr killed now?  By chance; but one of each kind is needed.  So the first one
 * dies early, every eighth is left to end, and at the end, if @none was killed, any will do.
 */
static int dies(uint64_t *chance, unsigned int nr, int none)
{
	if (nr % 8 == 1)
		return 0;
	return !nr || none || one_in(chance, 32);
}

static void run_sessions(struct tally *t, unsigned int nr, uint64_t seed)
{
	struct { pid_t pid; unsigned int nr; } at[AT_ONCE] = { { 0, 0 } };
	unsigned int living = 0;
	uint64_t chance;
	int status;

	begin_chance(&chance, seed, nr);
	while (t->begun < nr || living) {
		for (unsigned int i = 0; i < AT_ONCE; i++) {
			if (at[i].pid && dies(&chance, at[i].nr, !t->killed && t->begun == nr))
				kill(at[i].pid, SIGKILL);
			if (at[i].pid && waitpid(at[i].pid, &status, WNOHANG) == at[i].pid) {
				account_for(t, status, at[i].nr);
				at[i].pid = 0;
				living--;
			}
			if (at[i].pid || t->begun == nr)
				continue;
			at[i].nr = t->begun++;
			at[i].pid = fork();
			if (!at[i].pid)
				_exit(live(seed, at[i].nr));
			living += at[i].pid > 0;
			at[i].pid = at[i].pid < 0 ? 0 : at[i].pid;
		}
		usleep(1000 + below(&chance, 400000));
	}
}

int main(int argc, char **argv)
{
	const unsigned int nr = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	struct tally t = { 0 };
	struct state before, after;
	unsigned int areas;
	uint64_t seed;

	if (!nr)
		bail_out("usage: t_sessions NR SEED");
	seed = strtoull(argv[2], NULL, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	diag("SEED=%llu", (unsigned long long)seed);
	put_text("/proc/self/oom_score_adj", "-500");
	control = session_open();
	before = look();
	areas = held_areas();
	run_sessions(&t, nr, seed);
	after = look();
	diag("%u sessions: ended by themselves %u, refused %u, killed %u", t.begun, t.ends[FINE],
	     t.ends[REFUSED], t.killed);
	is_u64(t.ends[FINE] + t.ends[REFUSED] + t.killed, nr,
	       "each session ends by itself, is refused for lack of memory, or is killed");
	is_u64(t.ends[WRONG_SUMS], 0, "of those that ended all sums hold");
	/* in a debug kernel, which needs much itself, none may have been left to end */
	ok(t.ends[FINE] + t.ends[REFUSED] && t.killed,
	   "there were some that ended or were refused, and some that were killed");
	ok(same(&before, &after), "hooks, their users and sessions are as before");
	ok(kernel_forgot(areas), "nothing is left attached, and the module's memory is as before");
	return done_testing();
}
