// SPDX-License-Identifier: GPL-2.0-or-later
/* Kill a user of the device at any moment, or close the device after any call. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t_die.h"

/* What it did when it was killed, and how long phases last, on average so far, ns. */
static struct {
	int phase;
	uint64_t lasts[PH_NR];
} *shared;

static void learn(struct life *l, enum phase to)
{
	const enum phase from = to - 1;

	if (l->at[from])
		shared->lasts[from] = (shared->lasts[from] * 7 + l->at[to] - l->at[from]) / 8;
}

static pid_t start_child(void)
{
	struct life l = {
		.flags = life_flags(), .run_ns = below(10000000), .phase = &shared->phase,
		.enters = learn, .steps = below(3) ? 0 : 1 + below(20),
	};
	pid_t pid;

	die_set(&shared->phase, PH_NONE);
	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	life_run(&l);
	if (l.failed)
		printf("# %s: %s\n", l.failed, strerror(l.error));
	fflush(stdout);
	_exit(l.failed ? 1 : 0);
}

/* Waits for a random moment of that phase; some never come to it. */
static void bring(pid_t pid, enum phase want)
{
	siginfo_t info = { .si_pid = 0 };

	while (die_get(&shared->phase) < (int)want && !info.si_pid) {
		nap_ns(100000);
		waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT);
	}
	nap_ns(below(die_get(&shared->lasts[want]) * 9 / 8));
}

static void one(enum phase want, unsigned long *hit)
{
	pid_t pid = start_child();
	enum phase was = PH_NONE;
	int status;

	if (want != PH_OVER) {
		bring(pid, want);
		was = die_get(&shared->phase);
		kill(pid, SIGKILL);
	}
	waitpid(pid, &status, 0);
	if (died_of(status, SIGKILL))
		hit[was]++;
	else if (!status)
		hit[PH_OVER]++;
	else
		wrong("a session by hand: status 0x%x", status);
	round_clean("by hand");
}

void die_device(unsigned int times)
{
	unsigned long hit[PH_NR] = { 0 }, n, most = times * 50UL + 200;
	enum phase want, ph;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	for (n = 0; n < most && !enough(); n++) {
		for (want = ph = PH_ATTACH; ph <= PH_OVER; ph++)
			want = hit[ph] < hit[want] ? ph : want;
		if (hit[want] >= times)
			break;
		one(want, hit);
	}
	for (ph = PH_ATTACH; ph <= PH_DETACH; ph++)
		counted(phase_names[ph], hit[ph], times);
	counted("closed by itself, after any call", hit[PH_OVER], times);
}
