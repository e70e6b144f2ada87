// SPDX-License-Identifier: GPL-2.0-or-later
/* Run a session on the target through the device; it may be stopped after each call. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "t_die.h"

#define SMALL		(256U << 10)

const char *const phase_names[PH_NR] = { "before or after", "attach", "run", "read", "detach",
					 "over" };
char kernel_fn[64], nap_fn[64];

enum where { IN_EXE, IN_LIBC, IN_LIB, IN_KERNEL };

/* What a session can attach. */
static const struct place {
	unsigned int flag;
	enum where where;
	const char *name;
	int fn;				/* of the target, enum die_fn */
	uint32_t kind, flags, op;
} places[] = {
	{ LIFE_USER, IN_EXE, "step", DIE_STEP, MEMTAP_ATTACH_UPROBE, 0, 0 },
	{ LIFE_USER, IN_EXE, "step-return", DIE_STEP, MEMTAP_ATTACH_UPROBE,
	  MEMTAP_ATTACH_RETURN, 0 },
	{ LIFE_USER, IN_EXE, "outer", DIE_OUTER, MEMTAP_ATTACH_UPROBE, MEMTAP_ATTACH_RETURN, 0 },
	{ LIFE_KERNEL, IN_KERNEL, "", 0, MEMTAP_ATTACH_KPROBE, 0, 0 },
	{ LIFE_KERNEL, IN_KERNEL, "", 0, MEMTAP_ATTACH_KPROBE, MEMTAP_ATTACH_RETURN, 0 },
	{ LIFE_KERNEL, IN_KERNEL, "task:task_rename", 0, MEMTAP_ATTACH_TRACEPOINT, 0, 0 },
	{ LIFE_HEAP, IN_LIBC, "malloc", 0, MEMTAP_ATTACH_HEAP, 0, MEMTAP_HEAP_ALLOC },
	{ LIFE_HEAP, IN_LIBC, "calloc", 0, MEMTAP_ATTACH_HEAP, 0, MEMTAP_HEAP_ALLOC },
	{ LIFE_HEAP, IN_LIBC, "realloc", 0, MEMTAP_ATTACH_HEAP, 0, MEMTAP_HEAP_REALLOC },
	{ LIFE_HEAP, IN_LIBC, "free", 0, MEMTAP_ATTACH_HEAP, 0, MEMTAP_HEAP_FREE },
	{ LIFE_LIB, IN_LIB, "lib", 0, MEMTAP_ATTACH_UPROBE, MEMTAP_ATTACH_RETURN, 0 },
	{ LIFE_HOLD, IN_EXE, "held", DIE_HELD, MEMTAP_ATTACH_UPROBE, MEMTAP_ATTACH_HOLD, 0 },
	{ LIFE_NAPS, IN_EXE, "nap", DIE_NAP, MEMTAP_ATTACH_UPROBE, MEMTAP_ATTACH_RETURN, 0 },
	{ LIFE_NAPS, IN_EXE, "deep", DIE_DEEPLY, MEMTAP_ATTACH_UPROBE, MEMTAP_ATTACH_RETURN, 0 },
	{ LIFE_NAPS, IN_KERNEL, "", 0, MEMTAP_ATTACH_KPROBE, MEMTAP_ATTACH_RETURN, 0 },
};

#define NR_PLACES	(sizeof(places) / sizeof(places[0]))

static long offsets[NR_PLACES];
static char libc_path[256];
#define SOME_BUILTINS	12	/* faults, what makes memory grow, OOM, reclaim */

static uint64_t builtin_events, fault_events;

int open_exe(void)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", target.pid);
	return open(target.by_proc ? path : target.exe, O_RDONLY | O_CLOEXEC);
}

int open_lib(void)
{
	return open(target.lib, O_RDONLY | O_CLOEXEC);
}

/* Not every kernel has the hooks of each. */
static bool starts(unsigned int id)
{
	struct memtap_filter_item item = { .kind = MEMTAP_FILTER_PID, .value = getpid() };
	struct memtap_config c = {
		.size = sizeof(c), .events = 1ULL << id, .mem_stacks = SMALL,
		.mem_counters = SMALL, .mem_tasks = SMALL,
		.filter_ptr = (uintptr_t)&item, .filter_nr = 1,
	};
	struct memtap_run run = { .size = sizeof(run) };
	int fd = open(MEMTAP_DEVICE, O_RDWR | O_CLOEXEC);
	bool none = fd >= 0 && !ioctl(fd, MEMTAP_CONFIGURE, &c) &&
		    ioctl(fd, MEMTAP_START, &run) && (errno == ENOENT || errno == EOPNOTSUPP);

	if (fd >= 0)
		close(fd);
	return !none;
}

static void find_builtins(void)
{
	struct memtap_event_info ev = { .size = sizeof(ev) };
	int fd = open(MEMTAP_DEVICE, O_RDWR | O_CLOEXEC);

	for (ev.id = 0; fd >= 0 && !ioctl(fd, MEMTAP_EVENT, &ev); ev.id++) {
		/* as many as leave room for others: MEMTAP_MAX_EVENTS */
		if (ev.id < SOME_BUILTINS && starts(ev.id))
			builtin_events |= 1ULL << ev.id;
		if (!strcmp(ev.group, "fault"))
			fault_events |= 1ULL << ev.id;
	}
	if (!builtin_events)
		wrong("the device has no events: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
}

void life_init(void)
{
	void *lib = dlopen(target.lib, RTLD_NOW);
	char path[256];
	size_t i;

	if (!kernel_function("sys_getppid", kernel_fn, sizeof(kernel_fn)) ||
	    (!kernel_function("pipe_read", nap_fn, sizeof(nap_fn)) &&
	     !kernel_function("anon_pipe_read", nap_fn, sizeof(nap_fn))))
		wrong("the kernel's functions have other names");
	for (i = 0; i < NR_PLACES; i++) {
		const struct place *p = &places[i];
		void *sym = p->where == IN_LIBC ? dlsym(RTLD_DEFAULT, p->name) :
			    lib ? dlsym(lib, "die_lib") : NULL;

		if (p->where == IN_EXE)
			offsets[i] = file_offset(target.pid, die_get(&target.sh->fn[p->fn]), path,
						 sizeof(path));
		else if (p->where != IN_KERNEL)
			offsets[i] = file_offset(getpid(), (uintptr_t)sym,
						 p->where == IN_LIBC ? libc_path : path,
						 sizeof(path));
		if (offsets[i] < 0)
			wrong("no place for %s", p->name);
	}
	if (lib)
		dlclose(lib);
	find_builtins();
}

/*
 * A few probes are enough: each takes some grace periods, and kernels before 6.2 search
 * all of their names for each function of theirs.  Now and then it is all there is.
 */
unsigned int life_flags(void)
{
	static const unsigned int often[] = {
		LIFE_USER, LIFE_USER, LIFE_USER, LIFE_HEAP, LIFE_HEAP, LIFE_HEAP, LIFE_LIB,
		LIFE_LIB, LIFE_HOLD, LIFE_HOLD, LIFE_FAULTS, LIFE_FAULTS, LIFE_FAULTS,
		LIFE_BUILTIN, LIFE_KERNEL, LIFE_USER | LIFE_HEAP,
	};
	unsigned int flags = often[below(16)] | (below(2) ? often[below(16)] : 0);

	if (!below(32))
		flags = LIFE_ALL;
	return flags | (below(2) ? LIFE_STOP : 0) | (below(16) ? 0 : LIFE_ALL_MM);
}

/* --- one session ---------------------------------------------------------- */

static void enter(struct life *l, enum phase to)
{
	l->at[to] = now_ns();
	if (l->phase)
		__atomic_store_n(l->phase, to, __ATOMIC_SEQ_CST);
	if (l->enters)
		l->enters(l, to);
}

/* True when the session goes on. */
static bool step(struct life *l, long ret, const char *what)
{
	if (ret < 0) {
		l->failed = what;		/* outlives this call */
		l->error = errno;
		return false;
	}
	return !l->steps || --l->steps;
}

static bool do_configure(struct life *l)
{
	struct memtap_filter_item item = { .kind = MEMTAP_FILTER_PID, .value = target.pid };
	struct memtap_config c = {
		.size = sizeof(c),
		.flags = MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK,
		.events = (l->flags & LIFE_BUILTIN ? builtin_events : 0) |
			  (l->flags & LIFE_FAULTS ? fault_events : 0),
		.mem_stacks = SMALL, .mem_counters = SMALL, .mem_tasks = SMALL,
		.filter_ptr = (uintptr_t)&item,
		.filter_nr = !(l->flags & LIFE_ALL_MM),
	};

	if (l->flags & LIFE_HEAP) {
		c.flags |= MEMTAP_CFG_LIVE;
		c.mem_live = SMALL;
	}
	if (c.filter_nr && l->run_ns & 1)
		c.flags |= MEMTAP_CFG_CHILDREN;
	return step(l, ioctl(l->fd, MEMTAP_CONFIGURE, &c), "CONFIGURE");
}

static void arguments(struct memtap_attach *a)
{
	a->family = MEMTAP_FAMILY_MALLOC;
	a->size2_arg = a->ptr_arg = MEMTAP_ARG_NONE;
	a->result_arg = MEMTAP_ARG_RETURN;
	if (!strcmp(a->name, "calloc"))
		a->size2_arg = 1;
	if (a->op == MEMTAP_HEAP_REALLOC) {
		a->ptr_arg = 0;
		a->size_arg = 1;
	}
	if (a->op == MEMTAP_HEAP_FREE) {
		a->ptr_arg = 0;
		a->size_arg = a->result_arg = MEMTAP_ARG_NONE;
	}
}

static bool do_attach(struct life *l, size_t i)
{
	const struct place *p = &places[i];
	const char *name = *p->name ? p->name : p->flag == LIFE_NAPS ? nap_fn : kernel_fn;
	struct memtap_attach a = {
		.size = sizeof(a), .kind = p->kind, .flags = p->flags, .op = p->op,
		.offset = p->where == IN_KERNEL ? 0 : offsets[i],
	};
	int fd = 0, ret;

	snprintf(a.name, sizeof(a.name), "%s", name);
	if (p->kind == MEMTAP_ATTACH_HEAP)
		arguments(&a);
	if (p->flags & MEMTAP_ATTACH_HOLD)
		a.hold_ms = 1 + l->run_ns % 50;
	if (p->where != IN_KERNEL)
		fd = p->where == IN_EXE ? open_exe() : p->where == IN_LIB ? open_lib() :
		     open(libc_path, O_RDONLY | O_CLOEXEC);
	a.fd = fd;
	/* a file may be away for a moment: then this one is left out */
	ret = fd < 0 ? 0 : ioctl(l->fd, MEMTAP_ATTACH, &a);
	l->attached += fd >= 0 && !ret;
	if (fd > 0) {
		int err = errno;

		close(fd);
		errno = err;
	}
	return step(l, ret, name);
}

/* Whoever is held is let go, or left to wait. */
static void look_held(struct life *l)
{
	struct memtap_held held = { .size = sizeof(held) };
	struct pollfd pfd = { .fd = l->fd, .events = POLLPRI };

	if (!(l->flags & LIFE_HOLD) || poll(&pfd, 1, 1) <= 0 ||
	    ioctl(l->fd, MEMTAP_HELD, &held) || !(l->run_ns & 2))
		return;
	held.release = held.tid;
	held.release_id = held.id;
	ioctl(l->fd, MEMTAP_HELD, &held);
}

static bool do_read(struct life *l)
{
	static char buf[65536];
	unsigned int snapshots = 1 + l->run_ns % 6;
	ssize_t n = 0;

	while (snapshots-- && n >= 0)
		do
			n = read(l->fd, buf, sizeof(buf));
		while (n > 0);
	return step(l, n, "read");
}

static bool do_run(struct life *l)
{
	struct memtap_run run = { .size = sizeof(run) };
	size_t i;

	if (!do_configure(l))
		return false;
	for (i = 0; i < NR_PLACES; i++)
		if (l->flags & places[i].flag && !do_attach(l, i))
			return false;
	if (!l->attached && !(l->flags & (LIFE_BUILTIN | LIFE_FAULTS)))
		return false;		/* all were left out */
	if (!step(l, ioctl(l->fd, MEMTAP_START, &run), "START"))
		return false;
	enter(l, PH_RUN);
	nap_ns(l->run_ns);
	look_held(l);
	enter(l, PH_READ);
	if (!do_read(l))
		return false;
	enter(l, PH_DETACH);
	if (!(l->flags & LIFE_STOP))
		return true;
	return step(l, ioctl(l->fd, MEMTAP_STOP, &run), "STOP") && do_read(l);
}

void life_run(struct life *l)
{
	memset(l->at, 0, sizeof(l->at));
	l->failed = NULL;
	l->attached = 0;
	enter(l, PH_ATTACH);
	l->fd = open(MEMTAP_DEVICE, O_RDWR | O_CLOEXEC);
	if (step(l, l->fd, "open"))
		do_run(l);
	if (!l->at[PH_DETACH])
		enter(l, PH_DETACH);
	if (l->fd >= 0)
		close(l->fd);
	enter(l, PH_OVER);
}

/* Did what took from @from to @to overlap that phase? */
bool life_was_during(const struct life *l, enum phase ph, uint64_t from, uint64_t to)
{
	uint64_t end = 0;
	int i;

	for (i = PH_OVER; i > (int)ph; i--)
		if (l->at[i])
			end = l->at[i];
	return l->at[ph] && from && from <= end && to >= l->at[ph];
}

/* --- something else meanwhile --------------------------------------------- */

static void *later_thread(void *arg)
{
	struct later *l = arg;
	uint64_t now;

	while ((now = now_ns()) < l->at)
		nap_ns(l->at - now > 200000 ? 100000 : 10000);
	l->began = now_ns();
	l->fn();
	l->ended = now_ns();
	return NULL;
}

void later(struct later *l, uint64_t at, void (*fn)(void))
{
	l->at = at;
	l->fn = fn;
	l->began = l->ended = 0;
	if (pthread_create(&l->id, NULL, later_thread, l))
		wrong("no thread");
}

void later_join(struct later *l)
{
	pthread_join(l->id, NULL);
}
