/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _T_INJECT_SCENES_H
#define _T_INJECT_SCENES_H

/*
 * Each thing that can be done with the device, and what must have been done before
 * it.  A scene is an ioctl with its structure, or a function.
 */
#include <sys/wait.h>

#include "t_inject_acts.h"

enum stage { CLOSED, OPENED, CONFIGURED, RUNNING, STOPPED };

#define IN_WORKERS	(1U << 0)	/* what is done by kernel threads for the caller */
#define TWICE		(1U << 1)	/* another session has the same */
#define WATCHING	(1U << 2)	/* the flight recorder runs */
#define A_CHILD		(1U << 3)	/* that waits at a MEMTAP_ATTACH_HOLD */
#define NO_OUTPUT	(1U << 4)	/* the structure need not be writable */
#define ENDS		(1U << 5)	/* the session stops before its accounts are looked at */

struct scene {
	const char *name;
	enum stage stage;
	uint32_t cfg;
	const char *events;		/* built-in ones */
	const struct memtap_attach *attached[4];
	unsigned long cmd;
	void (*fill)(union arg *a);
	bool (*good)(const union arg *a);
	long (*act)(void);
	uint32_t flags;
	int also;			/* errno that is right, too */
	const struct memtap_attach *attach;	/* of a MEMTAP_ATTACH */
};

static int fd2 = -1;
static pid_t child;
static const struct scene *scene;

/* --- probes ---------------------------------------------------------------- */

#define PROBE(_var, ...) \
	static const struct memtap_attach _var = { .size = sizeof(_var), __VA_ARGS__ }

PROBE(tracepoint, .kind = MEMTAP_ATTACH_TRACEPOINT, .name = "task:task_rename");
PROBE(by_perf, .kind = MEMTAP_ATTACH_TRACEPOINT, .name = "memtap:by_perf", .config = 1);
PROBE(kprobe, .kind = MEMTAP_ATTACH_KPROBE, .name = "do_exit");
PROBE(kretprobe, .kind = MEMTAP_ATTACH_KPROBE, .flags = MEMTAP_ATTACH_RETURN,
      .name = "vfs_statfs");
PROBE(uprobe, .kind = MEMTAP_ATTACH_UPROBE, .name = "probed");
PROBE(uretprobe, .kind = MEMTAP_ATTACH_UPROBE, .flags = MEMTAP_ATTACH_RETURN, .name = "returned");
PROBE(hold, .kind = MEMTAP_ATTACH_UPROBE, .flags = MEMTAP_ATTACH_HOLD, .hold_ms = 60000,
      .name = "held");
PROBE(heap, .kind = MEMTAP_ATTACH_HEAP, .op = MEMTAP_HEAP_ALLOC, .family = MEMTAP_FAMILY_MALLOC,
      .size_arg = 0, .size2_arg = MEMTAP_ARG_NONE, .ptr_arg = MEMTAP_ARG_NONE,
      .result_arg = MEMTAP_ARG_RETURN, .name = "handed_out");

static void fill_probe(struct memtap_attach *a, const struct memtap_attach *probe)
{
	*a = *probe;
	if (a->config)
		a->config = perf_id("task/task_rename");
	if (a->kind != MEMTAP_ATTACH_UPROBE && a->kind != MEMTAP_ATTACH_HEAP)
		return;
	a->fd = exe;
	a->offset = place_of(a->kind == MEMTAP_ATTACH_HEAP ? (void *)handed_out : (void *)probed);
}

/* --- structures ------------------------------------------------------------ */

static struct memtap_filter_item items[2];
static struct memtap_call calls[2 * CALLS];
static char path[4096];
static const uint32_t rows[] = { 0, 64 };
static const uint16_t kinds[] = { 0, 1 };
static const struct memtap_rule rules[] = {
	{ .kind = MEMTAP_RULE_CFA, .reg = 7, .cfa = 8, .ra = -8 },
	{ .kind = MEMTAP_RULE_GAP, .ra = -8 },
};

static uint64_t mask_of(const char *names)
{
	struct memtap_event_info ev = { .size = sizeof(ev) };
	uint64_t mask = 0;

	for (ev.id = 0; names && !ioctl(control, MEMTAP_EVENT, &ev); ev.id++)
		if (strstr(names, ev.name))
			mask |= 1ULL << ev.id;
	return mask;
}

/* Tables as small as they may be: each page of them is a fault. */
static void fill_config(union arg *a)
{
	items[0] = (struct memtap_filter_item){ .kind = MEMTAP_FILTER_PID, .value = getpid() };
	items[1] = (struct memtap_filter_item){ .kind = MEMTAP_FILTER_TID, .value = getpid() };
	a->config = (struct memtap_config){
		.size = sizeof(a->config), .flags = scene->cfg, .events = mask_of(scene->events),
		.depth = 16, .mem_stacks = 16384, .mem_counters = 16384, .mem_tasks = 1 << 17,
		/* (what is kept: blocks, objects, pages) */
		.mem_live = scene->cfg & (MEMTAP_CFG_LIVE | MEMTAP_CFG_OBJECTS |
					  MEMTAP_CFG_TOUCHED) ? 1 << 16 : 0,
		.mem_unwind = scene->cfg & MEMTAP_CFG_ROWS ? 1 << 20 : 0,
		.filter_ptr = (uintptr_t)items, .filter_nr = 2,
	};
}

static void fill_attach(union arg *a)
{
	fill_probe(&a->attach, scene->attach);
}

static void fill_plain(union arg *a)
{
	static const struct { unsigned long cmd; uint32_t size; } sizes[] = {
		{ MEMTAP_INFO, sizeof(a->info) }, { MEMTAP_EVENT, sizeof(a->event) },
		{ MEMTAP_HOOK, sizeof(a->hook) }, { MEMTAP_START, sizeof(a->run) },
		{ MEMTAP_STOP, sizeof(a->run) }, { MEMTAP_STATS, sizeof(a->stats) },
		{ MEMTAP_HELD, sizeof(a->held) },
	};
	unsigned int i;

	memset(a, 0, sizeof(*a));
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i].cmd == scene->cmd)
			a->size = sizes[i].size;
}

static void fill_recorded(union arg *a)
{
	static struct memtap_recorded_row recorded[16];

	a->recorded = (struct memtap_recorded){
		.size = sizeof(a->recorded), .nr = 16, .rows_ptr = (uintptr_t)recorded,
	};
}

static void fill_table(union arg *a)
{
	a->table = (struct memtap_table){
		.size = sizeof(a->table), .fd = exe, .nr_rows = 2, .nr_rules = 2,
		.rows_ptr = (uintptr_t)rows, .kinds_ptr = (uintptr_t)kinds,
		.rules_ptr = (uintptr_t)rules,
	};
}

static void fill_vdso(union arg *a)
{
	fill_table(a);
	a->table.flags = MEMTAP_TABLE_VDSO;
	a->table.fd = -1;
}

static void fill_wanted(union arg *a)
{
	a->wanted = (struct memtap_wanted){
		.size = sizeof(a->wanted), .path_ptr = (uintptr_t)path, .path_len = sizeof(path),
	};
}

static void fill_trace(union arg *a)
{
	a->trace = (struct memtap_trace){
		.size = sizeof(a->trace), .nr = 2 * CALLS, .calls_ptr = (uintptr_t)calls,
	};
}

static struct memtap_other_row other_rows[4];

/* (the one that look() keeps open does not run) */
static void fill_other(union arg *a)
{
	struct memtap_other o = { .size = sizeof(o) };
	unsigned int nr = 0;

	while (!ioctl(fd, MEMTAP_OTHER, &o) && !(o.flags & MEMTAP_OTHER_RUNNING))
		nr = o.nr;
	a->other = (struct memtap_other){
		.size = sizeof(a->other), .nr = nr, .nr_rows = 4,
		.rows_ptr = (uintptr_t)other_rows,
	};
}

static bool another(const union arg *a)
{
	const struct memtap_other *o = &a->other;
	const bool is = o->nr && o->flags == (MEMTAP_OTHER_RUNNING | MEMTAP_OTHER_LIVE) &&
			o->pid == getpid();

	if (!is)
		diag("session %u, flags %x, of %u, %s", o->nr, o->flags, o->pid, o->comm);
	return is;
}

static __u8 ones[65536] __attribute__((aligned(8)));

static void fill_events(union arg *a)
{
	a->events = (struct memtap_events){
		.size = sizeof(a->events), .room = sizeof(ones), .ones_ptr = (uintptr_t)ones,
	};
}

static bool calls_as_events(const union arg *a)
{
	return a->events.used == CALLS * (sizeof(struct memtap_one) + 4 * sizeof(__u64)) &&
	       !a->events.more;
}

static bool all_calls(const union arg *a)
{
	return a->trace.nr == CALLS && !a->trace.lost;
}

static bool a_path(const union arg *a)
{
	return a->wanted.file && path[0] == '/';
}

static bool somebody(const union arg *a)
{
	return a->held.tid && a->held.id;
}

/* --- the table ------------------------------------------------------------- */

#define SOME_EVENTS	"minor-fault,major-fault"
#define STACKS		(MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK)
#define BY_ROWS		(STACKS | MEMTAP_CFG_ROWS)
#define TRACED		(MEMTAP_CFG_USTACK | MEMTAP_CFG_LIVE | MEMTAP_CFG_TRACE)

#define OBJECTS		(MEMTAP_CFG_KSTACK | MEMTAP_CFG_OBJECTS)

#define IOCTL(_cmd, _fill)	.cmd = (_cmd), .fill = (_fill)
#define AT(...)			.attached = { __VA_ARGS__ }
#define ATTACH(_name, _probe, ...)						\
	{ .name = "attach " _name, .stage = CONFIGURED, .cfg = TRACED,		\
	  IOCTL(MEMTAP_ATTACH, fill_attach), .attach = &(_probe), __VA_ARGS__ }

static const struct scene scenes[] = {
	{ "open", CLOSED, .act = act_open },
	{ "info", OPENED, IOCTL(MEMTAP_INFO, fill_plain) },
	{ "event", OPENED, IOCTL(MEMTAP_EVENT, fill_plain) },
	{ "hook", OPENED, IOCTL(MEMTAP_HOOK, fill_plain) },
	{ "configure", OPENED, STACKS, IOCTL(MEMTAP_CONFIGURE, fill_config) },
	{ "configure again", CONFIGURED, TRACED, IOCTL(MEMTAP_CONFIGURE, fill_config) },
	{ "configure rows", OPENED, BY_ROWS, IOCTL(MEMTAP_CONFIGURE, fill_config) },
	ATTACH("tracepoint", tracepoint),
	ATTACH("tracepoint by perf", by_perf),
	ATTACH("kprobe", kprobe),
	ATTACH("shared kprobe", kprobe, .flags = TWICE, AT(&kprobe)),
	ATTACH("uprobe", uprobe),
	ATTACH("uprobe, in the kernel thread", uprobe, .flags = IN_WORKERS),
	ATTACH("uretprobe", uretprobe),
	ATTACH("uretprobe, in the kernel thread", uretprobe, .flags = IN_WORKERS),
	ATTACH("hold", hold),
	ATTACH("heap", heap),
	ATTACH("heap, in the kernel thread", heap, .flags = IN_WORKERS),
	{ "attach heap while it runs", RUNNING, TRACED, "minor-fault",
	  IOCTL(MEMTAP_ATTACH, fill_attach), .attach = &heap },
	{ "start", CONFIGURED, STACKS, SOME_EVENTS, IOCTL(MEMTAP_START, fill_plain),
	  .flags = NO_OUTPUT },
	{ "start with probes, histograms, children", CONFIGURED,
	  STACKS | MEMTAP_CFG_HIST | MEMTAP_CFG_CHILDREN, "minor-fault",
	  IOCTL(MEMTAP_START, fill_plain), .flags = NO_OUTPUT,
	  AT(&tracepoint, &kprobe, &uretprobe) },
	{ "start live", CONFIGURED, TRACED, "minor-fault",
	  IOCTL(MEMTAP_START, fill_plain), AT(&heap), .flags = NO_OUTPUT },
	{ "start with pages", CONFIGURED, STACKS | MEMTAP_CFG_TOUCHED, "minor-fault",
	  IOCTL(MEMTAP_START, fill_plain), .flags = NO_OUTPUT },
	{ "start rows", CONFIGURED, BY_ROWS, "minor-fault", IOCTL(MEMTAP_START, fill_plain),
	  .flags = NO_OUTPUT },
	{ "start objects", CONFIGURED, OBJECTS | MEMTAP_CFG_TRACE, "kmalloc,kfree,page-free",
	  IOCTL(MEMTAP_START, fill_plain), .flags = NO_OUTPUT },
	{ "read objects", STOPPED, OBJECTS, "kmalloc,kfree", .act = act_read },
	{ "table", CONFIGURED, BY_ROWS, IOCTL(MEMTAP_TABLE, fill_table) },
	{ "table while it runs", RUNNING, BY_ROWS, "minor-fault", IOCTL(MEMTAP_TABLE, fill_table) },
	{ "table of the vdso", RUNNING, BY_ROWS, "minor-fault", IOCTL(MEMTAP_TABLE, fill_vdso) },
	{ "table that another has", CONFIGURED, BY_ROWS, IOCTL(MEMTAP_TABLE, fill_table),
	  .flags = TWICE },
	{ "wanted", RUNNING, BY_ROWS, "minor-fault", IOCTL(MEMTAP_WANTED, fill_wanted),
	  .good = a_path },
	{ "stats", RUNNING, STACKS, "minor-fault", IOCTL(MEMTAP_STATS, fill_plain) },
	{ "trace", RUNNING, TRACED, "minor-fault", IOCTL(MEMTAP_TRACE, fill_trace),
	  .good = all_calls, AT(&heap) },
	{ "calls as events", RUNNING, TRACED, "minor-fault", IOCTL(MEMTAP_EVENTS, fill_events),
	  .good = calls_as_events, AT(&heap) },
	{ "another session", RUNNING, TRACED, "minor-fault", IOCTL(MEMTAP_OTHER, fill_other),
	  .good = another, AT(&heap), .flags = TWICE },
	{ "held", RUNNING, STACKS | MEMTAP_CFG_CHILDREN, IOCTL(MEMTAP_HELD, fill_plain),
	  .good = somebody, AT(&hold), .flags = A_CHILD },
	{ "poll", RUNNING, STACKS, "minor-fault", .act = act_poll },
	{ "read while it runs", RUNNING, STACKS, SOME_EVENTS, .act = act_read },
	{ "read live blocks", STOPPED, TRACED, "minor-fault", .act = act_read, AT(&heap) },
	{ "hits", RUNNING, STACKS, .act = act_hits, AT(&uprobe, &uretprobe), .flags = ENDS },
	{ "hits of an allocator", RUNNING, TRACED, .act = act_hits, AT(&heap), .flags = ENDS },
	{ "mmap of code", RUNNING, BY_ROWS, "minor-fault", .act = act_map, .flags = ENDS },
	{ "fork", RUNNING, BY_ROWS | MEMTAP_CFG_CHILDREN, "minor-fault", .act = act_fork,
	  AT(&uprobe, &tracepoint), .flags = ENDS, .also = EAGAIN },
	{ "stop", RUNNING, TRACED, SOME_EVENTS, IOCTL(MEMTAP_STOP, fill_plain),
	  AT(&heap, &kprobe), .flags = NO_OUTPUT },
	{ "stop, in kernel threads", RUNNING, BY_ROWS, "minor-fault",
	  IOCTL(MEMTAP_STOP, fill_plain), .flags = NO_OUTPUT | IN_WORKERS },
	{ "close", RUNNING, BY_ROWS, SOME_EVENTS, .act = act_close,
	  AT(&tracepoint, &kprobe, &uretprobe) },
	{ "close one of two", RUNNING, STACKS, SOME_EVENTS, .act = act_close,
	  AT(&tracepoint, &kprobe), .flags = TWICE },
	{ "recorded", RUNNING, STACKS, "minor-fault", IOCTL(MEMTAP_RECORDED, fill_recorded),
	  .flags = WATCHING },
	{ "debugfs", CLOSED, .act = act_debugfs, .flags = WATCHING },
	{ "flight recorder", CLOSED, .act = act_watch },
	{ "flight recorder off", CLOSED, .act = act_unwatch, .flags = WATCHING },
	/* 512 allocations each: the last */
	ATTACH("kretprobe", kretprobe),
	{ "start with kretprobes", CONFIGURED, STACKS, "brk", IOCTL(MEMTAP_START, fill_plain),
	  .flags = NO_OUTPUT },
	{ "stop with kretprobes", RUNNING, STACKS, "brk,mmap", IOCTL(MEMTAP_STOP, fill_plain),
	  .flags = NO_OUTPUT },
	{ "close with kretprobes", RUNNING, STACKS, "brk", .act = act_close, AT(&kretprobe) },
};

#define NR_SCENES	(sizeof(scenes) / sizeof(scenes[0]))

/* --- before and after ------------------------------------------------------ */

static int make_session(void)
{
	union arg a;
	int f, i, ret;

	f = session_open();
	if (scene->stage == OPENED)
		return f;
	fill_config(&a);
	session_must(ioctl(f, MEMTAP_CONFIGURE, &a), "CONFIGURE");
	for (i = 0; i < 4 && scene->attached[i]; i++) {
		fill_probe(&a.attach, scene->attached[i]);
		ret = ioctl(f, MEMTAP_ATTACH, &a);
		session_must(ret, a.attach.name);
	}
	if (scene->stage >= RUNNING)
		session_must(session_run(f, MEMTAP_START), "START");
	for (i = 0; i < CALLS && scene->cfg & MEMTAP_CFG_TRACE; i++)
		handed_out(16, i);
	if (scene->stage == STOPPED)
		session_must(session_run(f, MEMTAP_STOP), "STOP");
	return f;
}

/* A child that is at the probe, and nobody let go. */
static void hold_child(void)
{
	struct memtap_held h = { .size = sizeof(h) };
	int i;

	child = fork();
	if (!child) {
		/* who let it go by closing the session must have been the last */
		close(fd);
		_exit(probed(0) != 1);
	}
	for (i = 0; i < 600 && ioctl(fd, MEMTAP_HELD, &h); i++)
		usleep(20000);
}

static void make(void)
{
	union arg a;

	nr_read = 0;
	if (scene->flags & WATCHING)
		act_watch();
	if (scene->stage == CLOSED)
		return;
	fd = make_session();
	if (scene->flags & TWICE)
		fd2 = make_session();
	if (scene->flags & TWICE && scene->cmd == MEMTAP_TABLE) {
		fill_table(&a);
		session_must(ioctl(fd2, MEMTAP_TABLE, &a), "TABLE");
	}
	if (scene->flags & A_CHILD)
		hold_child();
}

static void drop(void)
{
	if (fd >= 0)
		close(fd);
	if (fd2 >= 0)
		close(fd2);
	fd = fd2 = -1;
	if (scene->stage == CLOSED || scene->flags & WATCHING)
		act_unwatch();
	if (child)
		waitpid(child, NULL, 0);
	child = 0;
}

static union arg next_arg;

/* Before act(): what it takes to know what to say is not to fail. */
static void ready(void)
{
	if (scene->fill)
		scene->fill(&next_arg);
}

static long act(void)
{
	union arg a = next_arg;
	long ret;

	if (scene->act)
		return scene->act();
	ret = ioctl(fd, scene->cmd, &a);
	if (!ret && scene->good && !scene->good(&a)) {
		errno = EBADMSG;
		return -1;
	}
	return ret;
}

#endif
