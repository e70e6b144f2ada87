// SPDX-License-Identifier: GPL-2.0-or-later
/* The OOM score of memtap and its children while memtap uses much memory. */
/* LINK: ctl/base/limit.c */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limit.h"
#include "tap.h"

static int score(void)
{
	FILE *f = fopen("/proc/self/oom_score_adj", "r");
	int v = -1;

	if (!f || fscanf(f, "%d", &v) != 1)
		v = -1;
	if (f)
		fclose(f);
	return v;
}

static int score_of_child(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		limit_restore();
		_exit(score() / 10);	/* 1000 does not fit */
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
	const int before = score();

	limit_oom_first(true);
	ok(score() == 1000, "memtap is the first one to be killed");
	limit_oom_first(true);
	limit_oom_first(false);
	ok(score() == 1000, "until the outermost of nested calls ends");
	ok(score_of_child() == before / 10, "a program that it runs is not");
	ok(score() == 1000, "which changes nothing for memtap");
	limit_oom_first(false);
	ok(score() == before, "then all is as before");
	ok(score_of_child() == before / 10, "also for children");
	return tap_done();
}
