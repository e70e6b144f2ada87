// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run this program as a child for each question of `memtap diagnose`.  A child has memory limits
 * and a session of its own: whatever happens to it, its session ends with it, and what it
 * recorded can be read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/diagnose.h"
#include "session/tracefs.h"
#include "target/maps.h"

#define SECOND		1000000000ULL
#define TICK_NS		(SECOND / 4)
#define GRACE		120.0		/* seconds to attach, and to write what was recorded */
#define KILL_NS		(10 * SECOND)	/* between SIGTERM and SIGKILL */
/*
 * Of the module, where an event happens: an upper bound of what docs/performance.md has for a
 * call of a program that is probed.
 */
#define EVENT_NS	2500

void runner_begin(struct runner *r)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };

	sigemptyset(&r->set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&r->set, signals[i]);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &r->set, &r->before);
}

void runner_end(struct runner *r)
{
	sigprocmask(SIG_SETMASK, &r->before, NULL);
}

/* Until @ns; the signal that came before, or 0. */
static int wait_until(const struct runner *r, __u64 ns)
{
	const __u64 now = clock_ns(), left = ns > now ? ns - now : 0;
	const struct timespec ts = { (time_t)(left / SECOND), (long)(left % SECOND) };
	const int sig = sigtimedwait(&r->set, NULL, &ts);

	return sig > 0 ? sig : 0;
}

bool runner_sleep(struct runner *r, double seconds)
{
	const __u64 end = clock_ns() + (seconds > 0 ? (__u64)(seconds * 1e9) : 0);
	__u64 now, next;
	int sig;

	while (!r->interrupted && (now = clock_ns()) < end) {
		next = now + TICK_NS;
		sig = wait_until(r, next < end ? next : end);
		if (sig && sig != SIGCHLD)
			r->interrupted = true;
		if (r->tick)
			r->tick(r->ctx);
	}
	return !r->interrupted;
}

static void put_to(const char *path, int fd)
{
	const int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) :
				open("/dev/null", O_RDWR | O_CLOEXEC);

	if (file < 0 || dup2(file, fd) < 0)
		_exit(126);
}

/* A process group of its own: ^C is for us, who tell it when. */
static pid_t start(const struct runner *r, const char *const argv[], const char *out,
		   const char *err)
{
	const pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(126);
	setpgid(0, 0);
	put_to(NULL, STDIN_FILENO);
	put_to(out, STDOUT_FILENO);
	put_to(err, STDERR_FILENO);
	setpriority(PRIO_PROCESS, 0, 5);
	sigprocmask(SIG_SETMASK, &r->before, NULL);
	if (!strcmp(argv[0], "memtap"))
		execv("/proc/self/exe", (char *const *)argv);
	else
		execvp(argv[0], (char *const *)argv);
	_exit(127);
}

/* --- what it takes ------------------------------------------------------------------ */

struct cost {
	__u64 begun;			/* clock_ns() when it was seen to run; 0: not yet */
	__u64 cpu_ns, events;		/* then */
	double percent;			/* since; negative: not known */
	__u64 seen;			/* clock_ns() of the last look */
};

/* utime and stime of all of its threads; 0: it is gone. */
static __u64 cpu_of(pid_t pid)
{
	char path[32], *text, *at;
	unsigned long long user = 0, kernel = 0;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return 0;
	at = strrchr(text, ')');
	if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
			  &kernel) != 2)
		user = kernel = 0;
	free(text);
	return (user + kernel) * (SECOND / (__u64)sysconf(_SC_CLK_TCK));
}

/*
 * "    2     812 memtap           running       13900 KiB counted 12 lost 0: malloc ..."; false:
 * it does not run now, *@known: and that is known.
 */
static bool events_of(pid_t pid, __u64 *events, bool *known)
{
	char *text, *rest, *line, *at;
	unsigned long long counted, lost;
	bool found = false;
	int owner;
	size_t len;

	*known = !tracefs_debugfs("sessions", &text, &len);
	if (!*known)
		return false;
	*events = 0;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		at = strstr(line, " running ");
		if (!at || sscanf(line, "%*u %d", &owner) != 1 || owner != pid ||
		    strstr(line, "seccomp-experiment"))
			continue;
		at = strstr(at, " counted ");
		if (!at || sscanf(at, " counted %llu lost %llu", &counted, &lost) != 2)
			continue;
		*events += counted + lost;
		found = true;
	}
	free(text);
	return found;
}

static void look(struct cost *c, pid_t pid)
{
	const __u64 now = clock_ns(), cpu = cpu_of(pid) + cpu_of(getpid());
	__u64 events;
	bool known;

	if (!events_of(pid, &events, &known))
		return;
	if (!c->begun) {
		c->begun = now;
		c->cpu_ns = cpu;
		c->events = events;
	} else if (now > c->begun) {
		c->percent = (double)(cpu - c->cpu_ns + (events - c->events) * EVENT_NS) * 100 /
			     (double)(now - c->begun);
	}
	c->seen = now;
}

/* --- until it ends --------------------------------------------------------------------- */

static bool is_dear(const struct cost *c, double planned)
{
	const double seconds = (double)(c->seen - c->begun) / 1e9;

	return c->begun && c->percent >= 0 &&
	       diagnose_dear(c->percent / 100 * seconds, seconds, planned);
}

/*
 * @ask NULL: it reads what was recorded.  What it takes is not looked at, and the first ^C lets it
 * end: without it nothing of that is known.  Its exit status as of wait().
 */
static int wait_for(struct runner *r, pid_t pid, double seconds, struct ask *ask)
{
	__u64 end = clock_ns() + (__u64)((seconds + (ask ? GRACE : 0)) * 1e9), kill_at = 0;
	struct cost c = { .percent = -1 };
	bool told = false;
	int status, sig;

	for (;;) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			break;
		sig = wait_until(r, clock_ns() + TICK_NS);
		if (sig && sig != SIGCHLD) {
			/* whoever asks twice does not want to wait */
			if (r->interrupted)
				kill(pid, SIGKILL);
			else if (ask)
				kill(pid, SIGINT);
			r->interrupted = told = true;
		}
		if (ask && !told)
			look(&c, pid);
		if (ask && !told && !r->deep && is_dear(&c, seconds)) {
			kill(pid, SIGINT);
			told = true;
			ask->end = ASK_DEAR;
		}
		if (clock_ns() > end && !kill_at) {
			kill(pid, SIGTERM);
			kill_at = clock_ns() + KILL_NS;
		} else if (kill_at && clock_ns() > kill_at) {
			kill(pid, SIGKILL);
		}
		if (r->tick)
			r->tick(r->ctx);
	}
	if (ask)
		ask->cpu = c.percent;
	return status;
}

int runner_run(struct runner *r, const char *const argv[], const char *out, const char *err,
	       double seconds)
{
	const pid_t pid = start(r, argv, out, err);
	int status;

	if (pid < 0)
		return -1;
	status = wait_for(r, pid, seconds, NULL);
	return WIFEXITED(status) && WEXITSTATUS(status) < 126 ? WEXITSTATUS(status) : -1;
}

void runner_record(struct runner *r, const char *const argv[], const char *err, struct ask *ask)
{
	const pid_t pid = start(r, argv, NULL, err);
	int status;

	ask->end = ASK_DONE;
	ask->cpu = -1;
	if (pid < 0) {
		snprintf(ask->error, sizeof(ask->error), "memtap cannot be run: %s",
			 strerror(errno));
		ask->end = ASK_FAILED;
		return;
	}
	status = wait_for(r, pid, ask->seconds, ask);
	if (r->interrupted)
		ask->end = ASK_STOPPED;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return;
	/* (a signal that comes before it waits for one ends it) */
	ask->seconds = 0;
	if (r->interrupted)
		return;
	ask->end = ASK_FAILED;
	if (WIFSIGNALED(status))
		snprintf(ask->error, sizeof(ask->error), "the recording was killed by signal %d",
			 WTERMSIG(status));
}
