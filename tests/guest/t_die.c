// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * t_die KIND: kill, end or restart something at random moments while memtap attaches, runs, is
 * read and detaches, under load on all CPUs.  It runs TIMES rounds (environment), evenly over all
 * phases and kinds, or as many as possible WITHIN seconds.  After each round nothing may be
 * attached, the target's code must equal its file, and the target must run and compute correct
 * results.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "t_die.h"
#include "tap.h"

#define MOST_CPUS	16

static const struct die_kind kinds[] = {
	{ "tool", "mmDF", die_tool, 4, 2, "the tool is killed" },
	{ "two", "mmDF", die_two, 1, 8, "two tools attach and detach against each other" },
	{ "device", "mmDF", die_device, 5, 10, "who uses the device is killed, or closes it" },
	{ "exits", "mx", die_exits, 2, 3, "the target ends, or becomes another" },
	{ "forks", "mdf", die_forks, 2, 5, "the target forks, loads and unloads a library" },
	{ "files", "md", die_files, 12, 2, "program and library are replaced, or removed" },
	{ "rmmod", "mm", die_rmmod, 1, 4, "the module is unloaded, and loaded" },
	{ "others", "mmDF", die_tracers, 1, 4, "others probe the same functions" },
	{ "hotplug", "mmF", die_hotplug, 3, 4, "processors come and go" },
	{ "pending", "mssss", die_pending, 8, 3, "sessions end while calls have yet to return" },
};

struct die_target target;
unsigned long failures;
static const struct die_kind *kind;
static unsigned int seed;
static uint64_t last_ns;		/* from WITHIN; 0: as long as it takes */
static pid_t noises[MOST_CPUS];
static unsigned long rounds;

/* --- small things -------------------------------------------------------- */

void wrong(const char *fmt, ...)
{
	va_list ap;

	if (++failures > 20)
		return;
	printf("# wrong, round %lu: ", rounds);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

bool enough(void)
{
	return failures > 20 || (last_ns && now_ns() > last_ns);
}

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

void nap_ns(uint64_t ns)
{
	const struct timespec t = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	nanosleep(&t, NULL);
}

/* For what takes a moment, and a while where the kernel is a slow one. */
uint64_t too_late(void)
{
	const char *slow = getenv("SLOW");

	return now_ns() + 120000000000ULL * (slow && *slow ? strtoul(slow, NULL, 10) : 1);
}

uint64_t below(uint64_t n)
{
	static uint64_t state;

	if (!state)
		state = seed * 0x9e3779b97f4a7c15ULL + 1;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return n ? (state >> 11) % n : 0;
}

bool died_of(int status, int sig)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == sig;
}

/* Who gives it a time to end takes what was done by then. */
void counted(const char *what, unsigned long n, unsigned long least)
{
	const bool late = last_ns && now_ns() > last_ns;

	ok(n >= least || late, "%s: %s", kind->name, what);
	diag("%s, %s: %lu times%s", kind->name, what, n, late ? ", until its time was over" : "");
}

/* --- processes ----------------------------------------------------------- */

pid_t spawn(char *const argv[], const char *log)
{
	pid_t pid = fork();
	int fd;

	if (pid < 0)
		bail_out("fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = open(log ? log : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(fd, 1);
	dup2(fd, 2);
	execvp(argv[0], argv);
	_exit(127);
}

static void make_shared(struct die_target *t)
{
	int naps[2];

	t->shared = memfd_create("die", 0);
	if (t->shared < 0 || ftruncate(t->shared, sizeof(*t->sh)) || pipe(naps))
		bail_out("shared memory");
	t->naps = naps[0];
	t->wake = naps[1];
	fcntl(t->wake, F_SETFD, FD_CLOEXEC);
	t->sh = mmap(NULL, sizeof(*t->sh), PROT_READ | PROT_WRITE, MAP_SHARED, t->shared, 0);
	if (t->sh == MAP_FAILED)
		bail_out("mmap");
}

void target_start(struct die_target *t)
{
	char shared[16], naps[16];
	char *argv[] = { t->exe, shared, naps, t->lib, t->threads, NULL };
	const uint64_t until = too_late();

	if (!t->sh)
		make_shared(t);
	memset(t->sh, 0, sizeof(*t->sh));
	snprintf(shared, sizeof(shared), "%d", t->shared);
	snprintf(naps, sizeof(naps), "%d", t->naps);
	t->pid = spawn(argv, NULL);
	while (!die_get(&t->sh->execs) && now_ns() < until)
		nap_ns(500000);
	if (!die_get(&t->sh->execs))
		bail_out("the target does not start");
}

int target_end(struct die_target *t)
{
	int status = 0;

	kill(t->pid, SIGTERM);
	close(t->wake);		/* whoever sleeps wakes up */
	t->wake = -1;
	if (waitpid(t->pid, &status, 0) != t->pid)
		wrong("the target's end: %s", strerror(errno));
	target_forget(t);
	return status;
}

void target_forget(struct die_target *t)
{
	t->pid = 0;
	munmap(t->sh, sizeof(*t->sh));
	close(t->shared);
	close(t->naps);
	if (t->wake >= 0)
		close(t->wake);
	t->sh = NULL;
}

bool target_moves(struct die_target *t)
{
	const uint64_t until = too_late();
	uint64_t before[DIE_THREADS];
	size_t i, n = strlen(t->threads), moved = 0;

	for (i = 0; i < n; i++)
		before[i] = die_get(&t->sh->turns[i]);
	while (moved < n && now_ns() < until) {
		nap_ns(1000000);
		for (i = moved = 0; i < n; i++)
			moved += t->threads[i] == 's' || die_get(&t->sh->turns[i]) != before[i];
	}
	return moved == n;
}

void noise(bool on)
{
	char *argv[] = { "./wl_die_noise", NULL };
	long i, nr = sysconf(_SC_NPROCESSORS_ONLN);

	for (i = 0; i < nr && i < MOST_CPUS && on; i++)
		noises[i] = spawn(argv, NULL);
	for (i = 0; i < MOST_CPUS && !on; i++) {
		if (!noises[i])
			continue;
		if (!text_clean(noises[i]))
			wrong("the text of a bystander");
		kill(noises[i], SIGKILL);
		waitpid(noises[i], NULL, 0);
		noises[i] = 0;
	}
}

/* --- verdicts ------------------------------------------------------------ */

/* A probe that is still registered would be in what starts now. */
static void fresh_clean(void)
{
	struct die_target t = { .threads = "md" };

	strcpy(t.exe, target.exe);
	strcpy(t.lib, target.lib);
	target_start(&t);
	if (!text_clean(t.pid))
		wrong("the text of a process that started afterwards");
	if (target_end(&t))
		wrong("a process that started afterwards does not end well");
}

/* Grace periods that are hurried take other ways, and many more rounds fit. */
static void hurry(bool on)
{
	int fd = open("/sys/kernel/rcu_expedited", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, on ? "1" : "0", 1) != 1)
		wrong("rcu_expedited: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
}

void round_clean(const char *when)
{
	int status;

	if (++rounds % 8 < 2)
		hurry(rounds % 8);
	if (!nothing_attached())
		wrong("%s: something is attached", when);
	if (waitpid(target.pid, &status, WNOHANG)) {
		wrong("%s: the target is gone, status 0x%x", when, status);
		target_forget(&target);
		target_start(&target);
	}
	if (!text_clean(target.pid))
		wrong("%s: the target's text", when);
	if (die_get(&target.sh->bad))
		wrong("%s: %lu results are wrong", when, (long)die_get(&target.sh->bad));
	die_set(&target.sh->bad, 0);
	if (rounds % 16 == 0 && !target_moves(&target))
		wrong("%s: the target does not go on", when);
	if (rounds % 32 == 0)
		fresh_clean();
}

static void at_the_end(unsigned long leaking)
{
	int status;

	hurry(false);
	ok(target_moves(&target), "each thread of the target goes on");
	ok(text_clean(target.pid), "its text is the files'");
	noise(false);
	fresh_clean();
	status = target_end(&target);
	ok(!status, "it ends as it would have, and all it computed is right");
	if (status)
		diag("its status is 0x%x", status);
	ok(nothing_attached(), "nothing is attached, nobody uses the module");
	ok(leaking_uprobes() == leaking, "the kernel knows of no probe that is left");
	ok(!system("rmmod memtap") && module_users() < 0, "the module unloads");
	ok(!system("modprobe memtap") && !module_users(), "and loads");
	ok(!failures, "%lu rounds: %s: nothing went wrong", rounds, kind->what);
	if (failures)
		diag("%lu things went wrong; SEED=%u", failures, seed);
}

static void in_this_directory(char *path, size_t len, const char *name)
{
	char dir[96];

	if (!getcwd(dir, sizeof(dir)))
		bail_out("getcwd");
	snprintf(path, len, "%s/%s", dir, name);
}

static unsigned int each_way(const char *times)
{
	const unsigned long all = times && *times ? strtoul(times, NULL, 10) : 0;

	/* (as lib.sh's "rounds") */
	if (!all && getenv("IN_CHECK"))
		return (kind->times + 1) / 2;
	return all ? (all + kind->ways - 1) / kind->ways : kind->times;
}

int main(int argc, char **argv)
{
	const char *times = getenv("TIMES"), *given = getenv("SEED"), *within = getenv("WITHIN");
	unsigned long leaking = leaking_uprobes();
	uint64_t began = now_ns();
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (argc == 2 && !strcmp(argv[1], kinds[i].name))
			kind = &kinds[i];
	if (!kind)
		bail_out("usage: t_die KIND");
	seed = given ? strtoul(given, NULL, 10) : began / 1000 ^ getpid();
	if (within)
		last_ns = began + strtoul(within, NULL, 10) * 1000000000ULL;
	diag("SEED=%u", seed);
	signal(SIGPIPE, SIG_IGN);
	strcpy(target.threads, kind->threads);
	in_this_directory(target.exe, sizeof(target.exe), "wl_die");
	in_this_directory(target.lib, sizeof(target.lib), "wl_die_lib.so");
	target_start(&target);
	noise(true);
	hurry(true);
	life_init();
	kind->run(each_way(times));
	at_the_end(leaking);
	diag("%s: %lu rounds in %lu s, %lu failures", kind->name, rounds,
	     (unsigned long)((now_ns() - began) / 1000000000), failures);
	return done_testing();
}
