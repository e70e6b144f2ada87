// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * t_inject [[+]SCENE [N]]: run each scene (t_inject_scenes.h) without memory, and then, if the
 * kernel supports fault injection, with its first, second, ... allocation or copy failing, until
 * none fails.  Each time the errno must be right, nothing may be attached, the scene must work
 * without a fault, and nothing may be left when the session is closed.  +: this scene and all
 * later ones.  N: only this fault, which the kernel then explains in its log.
 *
 * WITHIN (environment): seconds for all scenes together.  If all faults would take longer than a
 * scene's share, every second, third, ... fault is tried, from a random one on (SEED repeats it).
 */
#include <sys/syscall.h>
#include <time.h>

#include "t_inject_scenes.h"

#define ENOUGH	64		/* complaints */

static struct state before_all;
static unsigned int complaints, all_points, all_tried;

static void complain(unsigned int n, const char *what, int err)
{
	if (complaints++ < 8)
		diag("%s, fault %u: %s%s%s", scene->name, n, what, err ? ": " : "",
		     err ? strerror(err) : "");
}

static void show(const char *what, const struct state *st)
{
	if (complaints < 8)
		diag("   %s: %u hooks, %u attached, %u users, %u sessions", what, st->hooks,
		     st->attached, st->users, st->sessions);
}

static void compare(unsigned int n, const struct state *want, const char *what)
{
	struct state is = look();

	if (same(&is, want))
		return;
	complain(n, what, 0);
	show("is", &is);
	show("should be", want);
}

/* seen == counted + filtered + lost, whatever failed. */
static void end_well(unsigned int n)
{
	struct bytes b = { bytes_read, 0 };

	if (!(scene->flags & ENDS))
		return;
	if (session_run(fd, MEMTAP_STOP)) {
		complain(n, "cannot be stopped", errno);
		return;
	}
	nr_read = 0;
	if (act_read())
		complain(n, "cannot be read", errno);
	b.len = nr_read;
	if (!sums_hold(&b))
		complain(n, "the accounts do not add up", 0);
}

static void finish(unsigned int n)
{
	if (scene->stage >= RUNNING)
		end_well(n);
	drop();
	compare(n, &before_all, "something is left after close()");
}

static void refused(unsigned int n, int err, const struct state *before,
		    const struct state *full)
{
	if (err != ENOMEM && err != EFAULT && (!scene->also || err != scene->also))
		complain(n, "is refused with", err);
	compare(n, before, "was refused, and changed something");
	ready();
	if (act() < 0)
		complain(n, "does not work afterwards", errno);
	else
		compare(n, full, "works afterwards, but not as it should");
}

#define NO_MORE	(-1)		/* there is no such fault any more */

static struct state full;	/* where the scene worked without a fault */

/* What came of the n-th fault: an errno, 0 where it did no harm, or NO_MORE. */
static int strike(unsigned int n)
{
	struct state before;
	bool struck;
	long ret;
	int err;

	make();
	before = look();
	ready();
	arm(scene->flags & IN_WORKERS, n);
	ret = act();
	err = errno;
	struck = disarm(scene->flags & IN_WORKERS);
	if (ret < 0 && !struck)
		complain(n, "fails without a fault", err);
	if (ret < 0)
		refused(n, err, &before, &full);
	else
		compare(n, &full, "worked, but not as without a fault");
	finish(n);
	return !struck ? NO_MORE : ret < 0 ? err : 0;
}

/*
 * Each fault; but where one is like the other for long (the kernel allocates 512
 * times for a kretprobe), every 64th, and all of them where that ends.
 */
#define LONG	40
#define STEP	64

struct walk {
	unsigned int n, last, all_until, alike;
	int outcome;			/* of the last one */
	unsigned int tried, refused;
	unsigned int stride;		/* 0: no bound; else each so many-th is tried */
};

/* False at the end. */
static bool next_fault(struct walk *w, int outcome)
{
	bool skipped = w->n - w->last > 1, changed = outcome != w->outcome;

	if (w->stride) {
		if (outcome == NO_MORE)
			return false;
		w->tried++;
		w->refused += outcome != 0;
		w->n += w->stride;
		return true;
	}
	if (skipped && changed) {
		w->all_until = w->n;
		w->n = w->last + 1;
		w->alike = 0;
		return true;
	}
	if (outcome == NO_MORE)
		return false;
	w->tried++;
	w->refused += outcome != 0;
	w->alike = changed ? 0 : w->alike + 1;
	w->outcome = outcome;
	w->last = w->n;
	w->n += w->alike > LONG && w->n > w->all_until ? STEP : 1;
	return true;
}

/* What loading the module may take is that of so many scenes. */
#define LOADS	10

static double share;			/* of a scene, seconds; 0: as long as it takes */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/*
 * How many faults there are, about, by powers of two: then so many strikes as there is time
 * for, @seconds, are spread over all of them.
 */
static void bound(struct walk *w, int (*hit)(unsigned int n), double seconds)
{
	const double begin = now();
	unsigned int nr = 1, strikes = 1;
	double took, possible;
	int outcome;

	while (complaints < ENOUGH && (outcome = hit(nr)) != NO_MORE) {
		w->tried++;
		w->refused += outcome != 0;
		nr *= 2;
		strikes++;
	}
	took = now() - begin;
	possible = (seconds - took) * strikes / took;
	w->stride = possible < 1 ? nr : nr / possible + 1;
	w->n = 1 + (unsigned int)rand() % w->stride;
}

static void run_scene(unsigned int only)
{
	struct walk w = { .n = 1, .outcome = NO_MORE };
	unsigned int areas = held_areas();

	complaints = 0;
	make();
	ready();
	if (act() < 0)
		complain(0, "does not work at all", errno);
	full = look();
	finish(0);
	if (only)
		strike(only);
	else if (share > 0)
		bound(&w, strike, share);
	while (!only && complaints < ENOUGH && next_fault(&w, strike(w.n)))
		;
	if (!only && !w.tried)
		complain(0, "there is nothing that can fail, or it is done elsewhere", 0);
	if (!kernel_forgot(areas))
		complain(w.n, "something is left in the kernel", 0);
	all_points += w.n - 1;
	all_tried += w.tried;
	ok(!complaints, "%s: %u faults, %u of them tried, %u refused, the others did no harm",
	   scene->name, w.n - 1, w.tried, w.refused);
}

/* --- memory that is not there ----------------------------------------------- */

static char *page;		/* the last one before nothing */

/* The structure at @at, as it comes from fill(). */
static void efault(char *at, size_t there, const char *what, unsigned int n)
{
	struct state before = look();
	union arg a;

	scene->fill(&a);
	memcpy(at, &a, there);
	if (ioctl(fd, scene->cmd, at) != -1 || errno != EFAULT)
		complain(n, what, errno);
	compare(n, &before, "EFAULT, and changed something");
}

static void half_there(void)
{
	union arg a;
	size_t n, step;

	scene->fill(&a);
	step = a.size > 64 ? a.size / 16 : 4;
	for (n = 0; n < a.size; n += step)
		efault(page + 4096 - n, n, "a structure that ends too early", n);
}

static void read_only(void)
{
	union arg a;
	char *at;

	if (scene->flags & NO_OUTPUT)
		return;
	scene->fill(&a);
	at = page + 4096 - a.size;
	memcpy(at, &a, a.size);
	mprotect(page, 4096, PROT_READ);
	efault(at, 0, "a structure that cannot be written", a.size);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

/* What it points to: nowhere, or to less than it says. */
static void pointer(size_t at, size_t least)
{
	const uintptr_t bad[] = { 8, (uintptr_t)page + 4096, (uintptr_t)page + 4096 - least };
	struct state before = look();
	unsigned int i;
	uint64_t *p;
	union arg a;

	memset(page, 0, 4096);
	for (i = 0; i < 3; i++) {
		scene->fill(&a);
		p = (uint64_t *)((char *)&a + at);
		memcpy((void *)(uintptr_t)bad[2], (void *)(uintptr_t)*p, least);
		*p = bad[i];
		if (ioctl(fd, scene->cmd, &a) != -1 || errno != EFAULT)
			complain(i, "what it points to is not there", errno);
		compare(i, &before, "EFAULT, and changed something");
	}
}

static void nowhere(void)
{
	struct state left;

	complaints = 0;
	make();
	if (scene->cmd == MEMTAP_CONFIGURE)
		pointer(offsetof(struct memtap_config, filter_ptr), sizeof(items[0]));
	if (scene->cmd == MEMTAP_TABLE) {
		pointer(offsetof(struct memtap_table, rows_ptr), sizeof(rows[0]));
		pointer(offsetof(struct memtap_table, kinds_ptr), sizeof(kinds[0]));
		pointer(offsetof(struct memtap_table, rules_ptr), sizeof(rules[0]));
	}
	if (scene->cmd == MEMTAP_WANTED)
		pointer(offsetof(struct memtap_wanted, path_ptr), 4);
	if (scene->cmd == MEMTAP_EVENTS)
		pointer(offsetof(struct memtap_events, ones_ptr), sizeof(struct memtap_one));
	if (scene->cmd == MEMTAP_TRACE)
		pointer(offsetof(struct memtap_trace, calls_ptr), sizeof(calls[0]));
	half_there();
	read_only();
	ready();
	if (act() < 0)
		complain(0, "does not work afterwards", errno);
	drop();
	left = look();
	ok(!complaints && same(&left, &before_all),
	   "%s: EFAULT where memory is missing, and nothing changed", scene->name);
}

/* --- the module ------------------------------------------------------------- */

static char module_path[512];

static long load(void)
{
	int f = open(module_path, O_RDONLY | O_CLOEXEC), err;
	long ret = f < 0 ? -1 : syscall(SYS_finit_module, f, "", 0);

	err = errno;
	if (f >= 0)
		close(f);
	errno = err;
	return ret;
}

static bool loaded(void)
{
	return lines_with("/proc/modules", "memtap ") || !access(MEMTAP_DEVICE, F_OK) ||
	       !access("/sys/module/memtap", F_OK) || !access(DEBUGFS "memtap", F_OK);
}

static int strike_load(unsigned int n)
{
	bool struck;
	long ret;
	int err;

	arm(false, n);
	ret = load();
	err = errno;
	struck = disarm(false);
	if (ret < 0 && err != ENOMEM && err != EFAULT)
		complain(n, "is refused with", err);
	if (ret < 0 && loaded())
		complain(n, "was refused, and something of it is there", err);
	if (ret >= 0 && syscall(SYS_delete_module, "memtap", O_NONBLOCK))
		complain(n, "cannot be removed", errno);
	return !struck ? NO_MORE : ret < 0 ? err : 0;
}

/* The module's own, and those of the kernel that loads it: none may harm.  None is skipped. */
static void load_with_faults(void)
{
	static const struct scene s = { .name = "load" };
	struct walk w = { .n = 1, .outcome = NO_MORE, .all_until = -1U };
	int outcome;

	scene = &s;
	complaints = 0;
	close(control);
	/* it warns of jump labels that it has no memory for; inject.t reads all warnings */
	put_text("/proc/sys/kernel/panic_on_warn", "0");
	if (syscall(SYS_delete_module, "memtap", O_NONBLOCK))
		complain(0, "cannot be removed", errno);
	if (share > 0)
		bound(&w, strike_load, LOADS * share);
	do
		outcome = strike_load(w.n);
	while (complaints < ENOUGH && next_fault(&w, outcome));
	if (load() < 0)
		complain(w.n, "cannot be loaded any more", errno);
	put_text("/proc/sys/kernel/panic_on_warn", "1");
	all_points += w.n - 1;
	all_tried += w.tried;
	ok(!complaints, "load: %u faults, %u of them tried, %u refused, the others did no harm",
	   w.n - 1, w.tried, w.refused);
}

static void find_module(void)
{
	FILE *p = popen("modinfo -n memtap 2>/dev/null", "r");

	if (!p || !fgets(module_path, sizeof(module_path), p))
		module_path[0] = 0;
	module_path[strcspn(module_path, "\n")] = 0;
	if (p)
		pclose(p);
}

/* --- all of it -------------------------------------------------------------- */

static void prepare(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	heap_stays();
	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* (a hole would be filled by what is mapped later) */
	mprotect(page + 4096, 4096, PROT_NONE);
	exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	/* no page of ours is to be what fails */
	mlockall(MCL_CURRENT | MCL_FUTURE);
	put_text(PARAMETER("max_mem"), "3M");
	control = session_open();
	before_all = look();
}

static bool chosen(const char *name, const char *wanted)
{
	static bool from_here_on;

	if (!wanted || from_here_on)
		return true;
	from_here_on = wanted[0] == '+' && !strcmp(wanted + 1, name);
	return from_here_on || !strcmp(wanted, name);
}

int main(int argc, char **argv)
{
	const char *wanted = argc > 1 ? argv[1] : NULL;
	const char *within = getenv("WITHIN"), *given = getenv("SEED");
	const unsigned int seed = given ? strtoul(given, NULL, 0) : (unsigned int)time(NULL);
	bool can = faults_ready(argc > 2);
	unsigned int i;

	srand(seed);
	share = within ? atof(within) / (NR_SCENES + LOADS) : 0;
	if (share > 0)
		diag("%.1f s for each scene; SEED=%u repeats its choice", share, seed);
	find_module();
	prepare();
	for (i = 0; i < NR_SCENES; i++) {
		scene = &scenes[i];
		if (!chosen(scene->name, wanted))
			continue;
		if (scene->cmd && argc <= 2)
			nowhere();
		if (can)
			run_scene(argc > 2 ? strtoul(argv[2], NULL, 0) : 0);
	}
	if (can && module_path[0] && chosen("load", wanted))
		load_with_faults();
	put_text(PARAMETER("max_mem"), "64M");
	if (!can)
		skip("faults", "this kernel injects none (CONFIG_FAULT_INJECTION, failslab, "
		     "fail_page_alloc, fail_usercopy)");
	diag("%u faults in all, %u tried", all_points, all_tried);
	return done_testing();
}
