// SPDX-License-Identifier: GPL-2.0-or-later
/* Unload and load the module with sessions, right after them, and between opens. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t_die.h"

static int *phase;
static char module[256];
static unsigned long refused;

static int unload(void)
{
	return syscall(SYS_delete_module, "memtap", O_NONBLOCK);
}

static void load(void)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		wrong("loading %s: %s", module, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void unload_must(const char *when)
{
	if (unload())
		wrong("unloading %s: %s", when, strerror(errno));
}

/* Again and again, until nobody uses it. */
static void unload_until(const char *when)
{
	const uint64_t until = too_late();

	while (unload()) {
		if (errno != EAGAIN || now_ns() > until) {
			wrong("unloading %s: %s", when, strerror(errno));
			return;
		}
		refused++;
		nap_ns(below(300000));
	}
}

static pid_t start_life(uint64_t run_ns)
{
	struct life l = { .flags = life_flags(), .run_ns = run_ns, .phase = phase };
	pid_t pid;

	__atomic_store_n(phase, PH_NONE, __ATOMIC_SEQ_CST);
	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	life_run(&l);
	/* the module may have been gone before */
	_exit(l.failed && strcmp(l.failed, "open") ? 1 : 0);
}

static void end_life(pid_t pid, int sig)
{
	int status;

	if (sig)
		kill(pid, sig);
	waitpid(pid, &status, 0);
	if (status && !died_of(status, sig))
		wrong("a session while the module is to go: status 0x%x", status);
}

/* Refused while a session is open, whatever it does; and not when it is closed. */
static void with_session(void)
{
	const pid_t pid = start_life(10000000000ULL);
	const uint64_t until = too_late();

	/* open, at least: by then it has a user */
	while (tool_phase(pid) == PH_NONE && now_ns() < until)
		nap_ns(100000);
	nap_ns(below(30000000));
	if (!unload() || errno != EAGAIN)
		wrong("unloading with a session: %s", strerror(errno));
	else
		refused++;
	end_life(pid, SIGKILL);
	unload_must("after a session was killed");
}

static void against_session(void)
{
	const pid_t pid = start_life(below(3000000));

	nap_ns(below(10000000));
	unload_until("while a session ends");
	end_life(pid, 0);
}

static void against_death(void)
{
	const pid_t pid = start_life(below(30000000));

	nap_ns(below(40000000));
	kill(pid, SIGKILL);
	unload_until("while a session dies");
	end_life(pid, SIGKILL);
}

static void after_tool(void)
{
	const pid_t pid = start_tool(below(3), NULL);

	nap_ns(below(600000000));
	end_life(pid, SIGKILL);
	tool_over(pid);
	unload_must("after the tool was killed");
}

static void against_opens(void)
{
	pid_t pid;
	int i, fd;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			fd = open(MEMTAP_DEVICE, O_RDWR | O_CLOEXEC);
			if (fd >= 0)
				close(fd);
		}
	}
	for (i = 0; i < 3; i++) {
		unload_until("against who opens the device");
		load();
		nap_ns(below(1000000));
	}
	end_life(pid, SIGKILL);
	unload_must("after who opened the device");
}

static const struct {
	void (*fn)(void);
	const char *what;
	unsigned int every;
} ways[] = {
	{ with_session, "refused with a session, unloaded right after it was killed", 1 },
	{ against_session, "tried all the time while a session comes and goes", 1 },
	{ against_death, "tried all the time while a session dies", 1 },
	{ against_opens, "tried all the time against opens, three times each", 2 },
	{ after_tool, "right after the tool was killed", 4 },
};

void die_rmmod(unsigned int times)
{
	FILE *f = popen("modinfo -n memtap", "re");
	unsigned long i, n, least;

	if (!f || fscanf(f, "%255s", module) != 1)
		wrong("modinfo does not know where the module is");
	if (f)
		pclose(f);
	phase = mmap(NULL, sizeof(*phase), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		least = (times + ways[i].every - 1) / ways[i].every;
		for (n = 0; n < least && !enough(); n++) {
			ways[i].fn();
			if (module_users() >= 0)
				wrong("%s: it is there still", ways[i].what);
			load();
			round_clean(ways[i].what);
		}
		counted(ways[i].what, n, least);
	}
	counted("refused", refused, times);
}
