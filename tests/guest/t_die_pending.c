// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * End sessions while threads sleep in functions whose returns are probed: three calls deep in user
 * space, one in the kernel.  Then the functions return, or never do.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t_die.h"

static unsigned long naps;

static void wait_count(uint64_t *count, uint64_t want, const char *what)
{
	const uint64_t until = too_late();

	while (die_get(count) != want && now_ns() < until)
		nap_ns(200000);
	if (die_get(count) != want)
		wrong("%s: %ld of %ld", what, (long)die_get(count), (long)want);
}

static void fall_asleep(struct life *l, enum phase to)
{
	struct die_shared *sh = target.sh;
	const uint64_t want = die_get(&sh->asleep) + DIE_SLEEPERS;

	(void)l;
	if (to != PH_RUN)
		return;
	die_add(&sh->sleep);
	wait_count(&sh->asleep, want, "threads fall asleep");
	naps += DIE_SLEEPERS;
}

static void wake(void)
{
	struct die_shared *sh = target.sh;
	const uint64_t want = die_get(&sh->woke) + DIE_SLEEPERS;

	if (write(target.wake, "wake", DIE_SLEEPERS) != DIE_SLEEPERS)
		wrong("waking threads: %s", strerror(errno));
	wait_count(&sh->woke, want, "threads wake up, and return");
}

static void run_life(void (*enters)(struct life *l, enum phase to))
{
	struct life l = {
		.flags = life_flags() | LIFE_NAPS | LIFE_USER,
		.run_ns = below(1000000), .enters = enters,
	};

	life_run(&l);
	if (l.failed)
		wrong("%s: %s", l.failed, strerror(l.error));
}

/* --- what happens to them -------------------------------------------------- */

static void return_later(void)
{
	run_life(fall_asleep);
	round_clean("closed with returns pending");
	nap_ns(below(3000000));
	wake();
}

static void return_at_once(void)
{
	run_life(fall_asleep);
	wake();
}

static void return_without_module(void)
{
	run_life(fall_asleep);
	if (system("rmmod memtap"))
		wrong("unloading with returns pending");
	wake();
	if (system("modprobe memtap"))
		wrong("loading again");
}

static void return_to_new_module(void)
{
	run_life(fall_asleep);
	if (system("rmmod memtap; modprobe memtap"))
		wrong("unloading and loading with returns pending");
	wake();
}

static void wake_in_detach(struct life *l, enum phase to)
{
	(void)l;
	if (to == PH_DETACH && write(target.wake, "wake", DIE_SLEEPERS) != DIE_SLEEPERS)
		wrong("waking threads: %s", strerror(errno));
}

/* They began under one session and return while another one is closed. */
static void return_to_another(void)
{
	const uint64_t want = die_get(&target.sh->woke) + DIE_SLEEPERS;

	run_life(fall_asleep);
	run_life(wake_in_detach);
	wait_count(&target.sh->woke, want, "threads return to another session");
}

static void never_return(void)
{
	struct die_shared *sh = target.sh;
	const uint64_t want = die_get(&sh->left) + DIE_SLEEPERS;
	int i;

	run_life(fall_asleep);
	die_set(&sh->leave, 1);
	for (i = 0; i < DIE_SLEEPERS; i++)
		syscall(SYS_tgkill, target.pid, die_get(&sh->sleepers[i]), SIGUSR1);
	wait_count(&sh->left, want, "threads leave by longjmp()");
	die_set(&sh->leave, 0);
}

static void killed_asleep(void)
{
	int status;

	run_life(fall_asleep);
	kill(target.pid, SIGKILL);
	waitpid(target.pid, &status, 0);
	target_forget(&target);
	target_start(&target);
}

static void kill_in_detach(struct life *l, enum phase to)
{
	fall_asleep(l, to);
	if (to == PH_DETACH)
		kill(target.pid, SIGKILL);
}

static void killed_in_detach(void)
{
	int status;

	run_life(kill_in_detach);
	waitpid(target.pid, &status, 0);
	target_forget(&target);
	target_start(&target);
}

static void die_asleep(struct life *l, enum phase to)
{
	fall_asleep(l, to);
	if (to == PH_READ)
		kill(getpid(), SIGKILL);
}

static void opener_killed(void)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_life(die_asleep);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	if (!died_of(status, SIGKILL))
		wrong("who holds the session: status 0x%x", status);
	naps += DIE_SLEEPERS;
	round_clean("killed with returns pending");
	wake();
}

static const struct {
	void (*fn)(void);
	const char *what;
	unsigned int every;
} ways[] = {
	{ return_later, "closed, then they return", 1 },
	{ return_at_once, "closed, and they return at once", 1 },
	{ return_to_another, "they return while another session is closed", 1 },
	{ never_return, "they leave by longjmp()", 1 },
	{ opener_killed, "who holds the session is killed, then they return", 1 },
	{ killed_asleep, "they are killed asleep, after the session", 1 },
	{ killed_in_detach, "they are killed asleep, with the session", 1 },
	{ return_without_module, "they return when the module is gone", 2 },
	{ return_to_new_module, "they return when it is loaded again", 2 },
};

void die_pending(unsigned int times)
{
	unsigned long i, n;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		for (n = 0; n < times / ways[i].every && !enough(); n++) {
			ways[i].fn();
			round_clean(ways[i].what);
		}
		counted(ways[i].what, n, times / ways[i].every);
	}
	counted("calls that had yet to return", naps, times * DIE_SLEEPERS);
}
