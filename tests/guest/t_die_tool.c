// SPDX-License-Identifier: GPL-2.0-or-later
/* Kill memtap at any moment, one process and two at a time. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t_die.h"
#include "tap.h"

#define MOST_ARGS	16
#define LOG		"/tmp/t_die.log"

/* One for each of two. */
static const char *const logs[] = { LOG, LOG ".2" };

/* P stands for the target's number, K for a function of the kernel, X for the program. */
static const char *const tools[][MOST_ARGS] = {
	{ "faults", "-p", "P", "-o", "/dev/null" },
	{ "leaks", "--no-mappings", "-p", "P", "-o", "/dev/null" },
	{ "stacks", "uX:die_step", "urX:die_outer", "-p", "P", "-o", "/dev/null" },
	{ "leaks", "-p", "P", "-o", "/dev/null" },
	{ "record", "-p", "P", "-o", "/tmp/t_die.memtap" },
	{ "stacks", "uX:die_step", "urX:die_outer", "kK", "krK", "fault", "brk", "mmap",
	  "t:task:task_rename", "-p", "P", "-o", "/dev/null" },
	{ "record", "--leaks", "-p", "P", "-o", "/tmp/t_die.memtap" },
	{ "leaks", "-k", "--percpu", "--trace", "--module", "memtap", "-o", "/dev/null" },
};

#define NR_TOOLS	(sizeof(tools) / sizeof(tools[0]))

/* Those with functions of the kernel take several times as long: they are less often. */
static const unsigned char often[] = { 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 4, 5, 6, 7 };

/* How long each phase takes each of them, on average so far, ns. */
static uint64_t takes[NR_TOOLS][PH_NR];

pid_t start_tool(unsigned int which, const char *log)
{
	static char text[MOST_ARGS][160];
	char *argv[MOST_ARGS + 2] = { "memtap" };
	size_t i;

	for (i = 0; i < MOST_ARGS && tools[which][i]; i++) {
		const char *a = tools[which][i];
		const size_t n = strcspn(a, "PKX");

		if (*a == '/' || *a == '-' || !a[n])
			snprintf(text[i], sizeof(text[i]), "%s", a);
		else if (a[n] == 'P')
			snprintf(text[i], sizeof(text[i]), "%d", target.pid);
		else
			snprintf(text[i], sizeof(text[i]), "%.*s:%s%s", (int)n, a,
				 a[n] == 'K' ? kernel_fn : target.exe, a + n + 1);
		argv[i + 1] = text[i];
	}
	return spawn(argv, log);
}

/* The ioctl() that its first thread is in. */
static unsigned long in_ioctl(pid_t pid)
{
	char path[32], buf[256];
	unsigned long cmd = 0;
	long nr = -1;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	if (slurp(path, buf, sizeof(buf)) <= 0 || sscanf(buf, "%ld 0x%*x 0x%lx", &nr, &cmd) != 2)
		return 0;
	return nr == 16 ? cmd : 0;
}

enum phase tool_phase(pid_t pid)
{
	char buf[8192], *line, state[32], first[32];
	int opener;

	if (slurp("/sys/kernel/debug/memtap/sessions", buf, sizeof(buf)) <= 0)
		return PH_NONE;
	for (line = buf; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		first[0] = '\0';
		if (sscanf(line, "%*d %d %*s %31s %*d KiB counted %*d lost %*d: %31s", &opener,
			   state, first) < 2 || opener != pid)
			continue;
		/* whether a seccomp filter lets returns pass is found out before */
		if (!strcmp(first, "seccomp-experiment"))
			continue;
		if (!strcmp(state, "stopped"))
			return PH_READ;
		if (strcmp(state, "running"))
			return PH_ATTACH;
		return in_ioctl(pid) == MEMTAP_STOP ? PH_DETACH : PH_RUN;
	}
	return PH_NONE;
}

/* Waits for a phase, or a later one, and learns how long it took since @since. */
static bool reach(pid_t pid, enum phase want)
{
	const uint64_t until = too_late();
	enum phase ph;
	siginfo_t info;

	for (;;) {
		ph = tool_phase(pid);
		/* what is attached and asked to stop is read last */
		if (ph == want || (want == PH_DETACH && ph == PH_READ) ||
		    (want == PH_ATTACH && ph != PH_NONE))
			return true;
		info.si_pid = 0;
		if (waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid)
			return false;
		if (now_ns() > until) {
			wrong("the tool does not come to %s", phase_names[want]);
			return false;
		}
		nap_ns(want <= PH_RUN ? 1000000 : 200000);
	}
}

static void learn(unsigned int which, enum phase ph, uint64_t since)
{
	uint64_t *mean = &takes[which][ph], now = now_ns() - since;

	*mean = *mean ? (*mean * 7 + now) / 8 : now;
}

/* Brings the tool to a random moment of that phase.  True if it was seen in STOP. */
static bool bring(pid_t pid, unsigned int which, enum phase want)
{
	uint64_t began;

	if (!reach(pid, PH_ATTACH))
		return false;
	if (want == PH_ATTACH) {
		nap_ns(below(takes[which][PH_ATTACH] * 9 / 8));
		return false;
	}
	began = now_ns();
	if (!reach(pid, PH_RUN))
		return false;
	learn(which, PH_ATTACH, began);
	nap_ns(below(20000000));
	if (want == PH_RUN)
		return false;
	kill(pid, SIGINT);
	if (!reach(pid, PH_DETACH))
		return false;
	began = now_ns();
	if (want == PH_DETACH) {
		nap_ns(below(takes[which][PH_DETACH]));
		return true;
	}
	if (reach(pid, PH_READ)) {
		learn(which, PH_DETACH, began);
		nap_ns(below(takes[which][PH_READ]));
	}
	return true;
}

/* Also the moment in which what it had is no longer listed, but the module is still in use. */
static bool has_session(pid_t pid)
{
	char buf[8192], *line;
	bool any = false;
	int opener;

	if (slurp("/sys/kernel/debug/memtap/sessions", buf, sizeof(buf)) <= 0)
		return false;
	for (line = strchr(buf, '\n'); line; line = strchr(line + 1, '\n')) {
		if (sscanf(line, "%*d %d", &opener) != 1)
			continue;
		if (opener == pid)
			return true;
		any = true;
	}
	return !any && module_users() > 0;
}

void tool_over(pid_t pid)
{
	const uint64_t until = too_late();

	while (has_session(pid) && now_ns() < until)
		nap_ns(1000000);
}

/* With what it had to say about it. */
static void ended_badly(unsigned int which, int status, const char *log)
{
	char line[256];
	FILE *f = fopen(log, "re");

	wrong("memtap %s: status 0x%x", tools[which][0], status);
	while (f && fgets(line, sizeof(line), f))
		diag("%.*s", (int)strcspn(line, "\n"), line);
	if (f)
		fclose(f);
}

/* Once to its end, undisturbed: how long that takes, and that it ends well. */
static void calm(unsigned int which)
{
	const pid_t pid = start_tool(which, LOG);
	uint64_t began;
	int status;

	bring(pid, which, PH_READ);
	began = now_ns();
	if (waitpid(pid, &status, 0) != pid || status)
		ended_badly(which, status, LOG);
	learn(which, PH_READ, began);
	round_clean(tools[which][0]);
}

void die_tool(unsigned int times)
{
	unsigned long hit[PH_NR] = { 0 }, n, most = times * 40UL + 100;
	enum phase want, was;
	unsigned int which;
	bool stops;
	int status;
	pid_t pid;

	for (n = 0; n < NR_TOOLS && n < 2UL * times; n++)
		calm((n + times) % NR_TOOLS);
	for (n = 0; n < most && !enough(); n++) {
		/* the phase that was hit least often */
		for (want = PH_ATTACH, was = PH_ATTACH; was <= PH_DETACH; was++)
			want = hit[was] < hit[want] ? was : want;
		if (hit[want] >= times)
			break;
		which = often[below(sizeof(often))];
		pid = start_tool(which, LOG);
		stops = bring(pid, which, want);
		was = tool_phase(pid);
		/* which call it is in cannot be seen while it has a processor */
		if (stops && was == PH_RUN)
			was = PH_DETACH;
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		tool_over(pid);
		if (died_of(status, SIGKILL))
			hit[was]++;
		else if (status)
			ended_badly(which, status, LOG);
		round_clean(tools[which][0]);
		if (n % 64 == 63)
			calm(n / 64 % NR_TOOLS);
	}
	for (want = PH_NONE; want <= PH_DETACH; want++)
		counted(phase_names[want], hit[want], want == PH_NONE ? 0 : times);
}

/* --- two ------------------------------------------------------------------ */

struct one {
	pid_t pid;
	unsigned int which;
	uint64_t until;
	int how;		/* the signal that ends it */
	const char *log;
};

/* True when it ended. */
static bool look(struct one *o)
{
	int status;

	if (now_ns() > o->until) {
		if (o->how)
			kill(o->pid, o->how);
		o->until = too_late();
	}
	if (waitpid(o->pid, &status, WNOHANG) != o->pid)
		return false;
	tool_over(o->pid);
	o->pid = 0;
	/* SIGINT before it waits for one ends it at once */
	if (status && !(o->how && died_of(status, o->how)))
		ended_badly(o->which, status, o->log);
	return true;
}

/* @longer: times as long, on machines where nobody gets anywhere within a second. */
static void begin_one(struct one *o, unsigned int longer)
{
	o->which = often[below(sizeof(often))];
	o->how = below(3) ? SIGKILL : SIGINT;
	o->pid = start_tool(o->which, o->log);
	o->until = now_ns() + 100000000 + (uint64_t)below(900000000) * longer;
}

void die_two(unsigned int times)
{
	struct one ones[2] = { { .log = logs[0] }, { .log = logs[1] } };
	unsigned long ends = 0, both = 0, i;

	while ((ends < times || (both < times / 4 && ends < 10 * times)) && !enough()) {
		for (i = 0; i < 2; i++) {
			if (!ones[i].pid)
				begin_one(&ones[i], 1U << (ends < 6 * times ? ends / times : 6));
			else if (look(&ones[i])) {
				ends++;
				both += tool_phase(ones[!i].pid) != PH_NONE;
			}
		}
		nap_ns(1000000);
		if (ends % 8 || !ends || (ones[0].pid && ones[1].pid))
			continue;
		/* nobody is left now and then: then all must be as it was */
		for (i = 0; i < 2; i++)
			while (ones[i].pid && !look(&ones[i]))
				nap_ns(1000000);
		ends++;
		round_clean("two tools");
	}
	for (i = 0; i < 2; i++)
		while (ones[i].pid && !look(&ones[i]))
			nap_ns(1000000);
	round_clean("two tools");
	counted("tools that ended", ends, times);
	counted("while the other had a session", both, times / 4);
}
