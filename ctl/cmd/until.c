// SPDX-License-Identifier: GPL-2.0-or-later
/* Wait until a condition, a signal or a timeout. */
#include <poll.h>
#include <stddef.h>
#include <time.h>

#include "cmd/until.h"

#define LONGEST	3600		/* seconds in one go */

static volatile sig_atomic_t ended;

static void on_signal(int sig)
{
	if (sig != SIGCHLD)
		ended = 1;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void until_begin(struct until *u, double seconds)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
	struct sigaction act = { .sa_handler = on_signal };
	sigset_t blocked;

	u->end = seconds > 0 ? now() + seconds : 0;
	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&blocked, signals[i]);
	sigprocmask(SIG_BLOCK, &blocked, &u->open);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &act, NULL);
	sigdelset(&u->open, SIGCHLD);
}

bool until_wait(const struct until *u, int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };
	struct timespec left = { LONGEST, 0 };

	if (u->end) {
		const double rest = u->end - now();

		if (rest <= 0)
			return false;
		if (rest < LONGEST) {
			left.tv_sec = (time_t)rest;
			left.tv_nsec = (long)((rest - (double)left.tv_sec) * 1e9);
		}
	}
	if (!ended)
		ppoll(&p, 1, &left, &u->open);
	return !ended && !(u->end && now() >= u->end && !p.revents);
}

void until_forget(const struct until *u)
{
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_DFL);
	sigprocmask(SIG_SETMASK, &u->open, NULL);
}
