// SPDX-License-Identifier: GPL-2.0-or-later
/* Other tracers attach to and detach from the same functions, and CPUs go offline and online. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t_die.h"

#define TRACING	"/sys/kernel/tracing/"
#define PMU	"/sys/bus/event_source/devices/"

/* Each of these is a process that does its work until it is told to end. */
enum who {
	FTRACE_USER, FTRACE_KERNEL, TRACER, PERF_USER, PERF_KERNEL, PERF_TOOL, BPFTRACE, NR_WHO
};

static const char *const who_names[NR_WHO] = {
	"ftrace's uprobe_events", "ftrace's kprobe_events", "the function tracer",
	"perf_event_open() on uprobes", "perf_event_open() on kprobes",
	"perf probe and perf record", "bpftrace",
};

/*
 * They make the kernel wait for grace periods of RCU under the locks that a session needs:
 * one at a time would take a quarter of a minute each.
 */
#define AT_ONCE	6

static struct {
	unsigned long did[NR_WHO];
	unsigned long met[NR_WHO];	/* sessions that ran while it was at work */
	bool ends;
} *shared;

static bool thorough;
static long exe_offset[2];		/* die_step, die_outer */
static char script[NR_WHO][1024];

static bool put(const char *file, int flags, const char *text)
{
	char path[160];
	int fd;
	bool good;

	snprintf(path, sizeof(path), TRACING "%s", file);
	fd = open(path, O_WRONLY | flags | O_CLOEXEC);
	good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (!good)
		printf("# %s > %s: %s\n", text, file, strerror(errno));
	if (fd >= 0)
		close(fd);
	return good;
}

/* Two events of a group, made, switched on, off, removed. */
static bool events(const char *file, const char *group, const char *first, const char *second)
{
	char text[512], enable[128];
	bool good;

	snprintf(text, sizeof(text), "p:%s/one %s\n", group, first);
	good = put(file, O_APPEND, text);
	snprintf(text, sizeof(text), "r:%s/two %s\n", group, second);
	good = good && put(file, O_APPEND, text);
	snprintf(enable, sizeof(enable), "events/%s/enable", group);
	good = good && put(enable, 0, "1");
	nap_ns(below(3000000));
	good = good && put(enable, 0, "0");
	snprintf(text, sizeof(text), "-:%s/one\n-:%s/two\n", group, group);
	return good && put(file, O_APPEND, text);
}

static bool ftrace_user(void)
{
	char first[256], second[256];

	snprintf(first, sizeof(first), "%s:0x%lx", target.exe, exe_offset[0]);
	snprintf(second, sizeof(second), "%s:0x%lx", target.exe, exe_offset[1]);
	return events("uprobe_events", "dieu", first, second);
}

static bool ftrace_kernel(void)
{
	return events("kprobe_events", "diek", kernel_fn, kernel_fn);
}

static bool tracer(void)
{
	bool good = put("set_ftrace_filter", O_TRUNC, kernel_fn) &&
		    put("current_tracer", 0, "function");

	nap_ns(below(3000000));
	return put("current_tracer", 0, "nop") && good;
}

static int open_perf(const char *pmu, uint64_t ret, const char *name, uint64_t offset)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .config = ret };
	char path[64], type[16];

	snprintf(path, sizeof(path), PMU "%s/type", pmu);
	if (slurp(path, type, sizeof(type)) <= 0)
		return -1;
	attr.type = atoi(type);
	attr.config1 = (uintptr_t)name;
	attr.config2 = offset;
	return syscall(SYS_perf_event_open, &attr, target.pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool perf(const char *pmu, const char *name, uint64_t first, uint64_t second)
{
	const int fd = open_perf(pmu, 0, name, first), ret = open_perf(pmu, 1, name, second);

	if (fd < 0 || ret < 0)
		printf("# perf_event_open(%s): %s\n", pmu, strerror(errno));
	nap_ns(below(3000000));
	if (fd >= 0)
		close(fd);
	if (ret >= 0)
		close(ret);
	return fd >= 0 && ret >= 0;
}

static bool perf_user(void)
{
	return perf("uprobe", target.exe, exe_offset[0], exe_offset[1]);
}

static bool perf_kernel(void)
{
	return perf("kprobe", kernel_fn, 0, 0);
}

static bool run_script(enum who who)
{
	char *argv[] = { "sh", "-c", script[who], NULL };
	const char *log = who == PERF_TOOL ? "/tmp/t_die.perf" : "/tmp/t_die.bpf";
	const pid_t pid = spawn(argv, log);
	char said[400];
	int status;

	waitpid(pid, &status, 0);
	if (status && slurp(log, said, sizeof(said)) >= 0)
		printf("# %s: %s\n", who_names[who], said);
	return !status;
}

static bool perf_tool(void)
{
	return run_script(PERF_TOOL);
}

static bool bpftrace(void)
{
	return run_script(BPFTRACE);
}

static bool (*const works[NR_WHO])(void) = {
	ftrace_user, ftrace_kernel, tracer, perf_user, perf_kernel, perf_tool, bpftrace,
};

static bool is_there(enum who who)
{
	static const char *const needs[NR_WHO] = {
		TRACING "uprobe_events", TRACING "kprobe_events", TRACING "set_ftrace_filter",
		PMU "uprobe/type", PMU "kprobe/type", "/usr/bin/perf", "/usr/bin/bpftrace",
	};

	/* tools that take seconds to begin are for when there is time */
	return !access(needs[who], F_OK) && (who < PERF_TOOL || thorough);
}

static void write_scripts(void)
{
	snprintf(script[PERF_TOOL], sizeof(script[0]),
		 "perf probe -q -x %s die_step && perf probe -q -x %s 'die_outer%%return' && "
		 "perf record -q -o /tmp/t_die.data -e 'probe_wl_die:*' -p %d sleep 0.1; "
		 "r=$?; perf probe -q -d 'probe_wl_die:*'; exit $r",
		 target.exe, target.exe, target.pid);
	snprintf(script[BPFTRACE], sizeof(script[0]),
		 "exec bpftrace -e 'uprobe:%s:die_step { @a = count(); } "
		 "uretprobe:%s:die_outer { @b = count(); } kprobe:%s { @c = count(); } "
		 "kretprobe:%s { @d = count(); } interval:ms:300 { exit(); }'",
		 target.exe, target.exe, kernel_fn, kernel_fn);
}

/* A process that ends with us; 0 in it. */
static pid_t start(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static pid_t start_who(enum who who)
{
	const pid_t pid = start();

	if (pid)
		return pid;
	while (!__atomic_load_n(&shared->ends, __ATOMIC_SEQ_CST)) {
		die_add(&shared->did[who]);
		if (!works[who]())
			exit(1);
		die_add(&shared->did[who]);
	}
	exit(0);
}

/* A session while all of them work; whom it met. */
static void with_tracers(void)
{
	struct life l = { .flags = life_flags() | LIFE_USER | (below(4) ? 0 : LIFE_KERNEL),
			  .run_ns = below(2000000) };
	unsigned long before[NR_WHO];
	int i;

	for (i = 0; i < NR_WHO; i++)
		before[i] = die_get(&shared->did[i]);
	life_run(&l);
	if (l.failed)
		wrong("%s: %s", l.failed, strerror(l.error));
	/* an odd number: it was at work all the time */
	for (i = 0; i < NR_WHO; i++)
		if (before[i] != die_get(&shared->did[i]) || before[i] & 1)
			die_add(&shared->met[i]);
}

/* A process with so many sessions, one after the other. */
static pid_t start_lives(unsigned int lives, unsigned int nr)
{
	const pid_t pid = start();

	if (pid)
		return pid;
	failures = 0;
	/* each makes its own choices */
	for (nr *= 1000; nr; nr--)
		below(2);
	while (lives-- && !enough())
		with_tracers();
	exit(failures != 0);
}

static void end(pid_t pid, const char *who)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		wrong("%s: status 0x%x", who, status);
}

static void batch(unsigned int lives)
{
	pid_t pids[NR_WHO] = { 0 }, ours[AT_ONCE] = { 0 };
	int i;

	__atomic_store_n(&shared->ends, false, __ATOMIC_SEQ_CST);
	for (i = 0; i < NR_WHO; i++)
		if (is_there(i))
			pids[i] = start_who(i);
	for (i = 0; i < AT_ONCE; i++)
		ours[i] = start_lives((lives + i) / AT_ONCE, i);
	for (i = 0; i < AT_ONCE; i++)
		end(ours[i], "sessions among others");
	__atomic_store_n(&shared->ends, true, __ATOMIC_SEQ_CST);
	for (i = 0; i < NR_WHO; i++) {
		if (pids[i])
			end(pids[i], who_names[i]);
		memset(&shared->did[i], 0, sizeof(shared->did[i]));
	}
	round_clean("others are gone as well");
}

void die_tracers(unsigned int times)
{
	unsigned long n, least;
	char path[256];
	int i;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	exe_offset[0] = file_offset(target.pid, die_get(&target.sh->fn[DIE_STEP]), path,
				    sizeof(path));
	exe_offset[1] = file_offset(target.pid, die_get(&target.sh->fn[DIE_OUTER]), path,
				    sizeof(path));
	write_scripts();
	thorough = times >= 10;
	for (n = 0, least = 0; least < times && n < times && !enough(); n++) {
		batch(times < 60 ? times : 60);
		for (i = 0, least = ~0UL; i < NR_WHO; i++)
			if (is_there(i) && shared->met[i] < least)
				least = shared->met[i];
	}
	for (i = 0; i < NR_WHO; i++)
		counted(who_names[i], shared->met[i], is_there(i) ? times : 0);
	put("set_ftrace_filter", O_TRUNC, "");
}

/* --- processors ------------------------------------------------------------ */

#define CPU1	"/sys/devices/system/cpu/cpu1/online"

static bool online = true;
static struct later flip;
static enum phase flip_in;
static uint64_t lasts[PH_NR] = { 0, 20000000, 1000000, 1000000, 10000000 };

static void flip_cpu(void)
{
	int fd = open(CPU1, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, online ? "0" : "1", 1) != 1)
		wrong("cpu1 %s: %s", online ? "off" : "on", strerror(errno));
	else
		online = !online;
	if (fd >= 0)
		close(fd);
}

static void flip_later(struct life *l, enum phase to)
{
	if (to == flip_in)
		later(&flip, l->at[to] + below(lasts[to]), flip_cpu);
}

static void flip_once(unsigned long hit[PH_NR][2])
{
	struct life l = { .flags = life_flags() | LIFE_FAULTS, .run_ns = below(10000000),
			  .enters = flip_later };
	const bool was = online;
	int ph;

	life_run(&l);
	if (l.at[flip_in])
		later_join(&flip);
	if (l.failed)
		wrong("%s: %s", l.failed, strerror(l.error));
	for (ph = PH_ATTACH; ph <= PH_DETACH; ph++) {
		if (l.at[ph] && l.at[ph + 1])
			lasts[ph] = (lasts[ph] * 7 + l.at[ph + 1] - l.at[ph]) / 8;
		hit[ph][was] += life_was_during(&l, ph, flip.began, flip.ended);
	}
	round_clean("processors");
}

void die_hotplug(unsigned int times)
{
	unsigned long hit[PH_NR][2] = { { 0 } }, n, most = times * 20UL + 50;
	char what[64];
	int ph, on;

	if (access(CPU1, W_OK)) {
		counted("no processor can go", 0, 0);
		return;
	}
	for (ph = PH_ATTACH; ph <= PH_DETACH; ph++)
		for (n = 0; ph != PH_READ && n < most && !enough() &&
		     (hit[ph][0] + hit[ph][1] < times || hit[ph][0] < times / 3 ||
		      hit[ph][1] < times / 3); n++) {
			flip_in = ph;
			flip_once(hit);
		}
	if (!online)
		flip_cpu();
	for (ph = PH_ATTACH; ph <= PH_DETACH; ph++)
		for (on = 0; ph != PH_READ && on < 2; on++) {
			snprintf(what, sizeof(what), "a processor %s in %s",
				 on ? "goes" : "comes", phase_names[ph]);
			counted(what, hit[ph][on], times / 3);
		}
}
