// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap triage` and `memtap leaks -k --census`: read the machine's memory twice, and compare. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "cmd/cmd.h"
#include "cmd/oom.h"
#include "cmd/past.h"
#include "history/past.h"
#include "machine/machine.h"
#include "render/triage.h"
#include "triage/triage.h"

/* Options of --census, and what goes with it. */
#define OPTS_CENSUS	(OPT_KERNEL_LEAKS | OPT_INTERVAL)

#define LOOK		1.0		/* seconds, when no interval is given */

struct page {
	unsigned int what;		/* MACHINE_* */
	bool census;
	void (*render)(const struct triage *t, const struct triage_opts *o);
};

static const struct page triage_page = {
	.what = MACHINE_SLAB | MACHINE_LOG | MACHINE_SHARED,
	.render = render_triage,
};

static const struct page census_page = {
	.what = MACHINE_SLAB | MACHINE_VMALLOC | MACHINE_SITES | MACHINE_SHARED,
	.census = true,
	.render = render_census,
};

void cmd_sleep_until(const struct timespec *start, double seconds)
{
	struct timespec end = *start;

	end.tv_sec += (time_t)seconds;
	end.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
	if (end.tv_nsec >= 1000000000) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
		;
}

static __u64 time_of_day(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (__u64)ts.tv_sec * 1000000000 + (__u64)ts.tv_nsec;
}

static int show_page(const struct page *p, const struct opts *o, const struct machine_at *at,
		     const struct machine *before, struct machine *now, bool first)
{
	const struct triage_opts to = {
		.out = stdout,
		.color = cmd_wants_color(o),
		.json = o->json,
		.line = o->interval > 0,
		.real_ns = o->interval > 0 ? time_of_day() : 0,
	};
	struct triage t;

	if (triage_look(&t, at, before, now, p->census))
		return -ENOMEM;
	if (!p->census && machine_read_pss(at, now, t.processes)) {
		triage_free(&t);
		return -ENOMEM;
	}
	if (!first && !o->json)
		putchar('\n');
	p->render(&t, &to);
	triage_free(&t);
	fflush(stdout);
	return 0;
}

static int read_machine(const struct page *p, const struct machine_at *at, struct machine *m)
{
	const int err = machine_read(at, p->what, m);

	if (!err && p->what & MACHINE_LOG)
		oom_kills(m);
	return err;
}

static int fail_read(int err)
{
	return err == -ENOMEM ? fail_text("no memory") :
	       fail_text("/proc/meminfo cannot be read: %s; is /proc mounted?", strerror(-err));
}

static int look(const struct page *p, const struct opts *o)
{
	const struct machine_at at = machine_here();
	const double interval = o->interval > 0 ? o->interval : LOOK;
	const __u32 count = o->interval > 0 ? o->count : 1;
	struct machine before, now;
	struct timespec start;
	double next = interval;
	int err;

	clock_gettime(CLOCK_MONOTONIC, &start);
	err = read_machine(p, &at, &before);
	for (__u32 i = 0; !err && (!count || i < count) && !ferror(stdout); i++) {
		cmd_sleep_until(&start, next);
		next += interval;
		err = read_machine(p, &at, &now);
		if (!err)
			err = show_page(p, o, &at, &before, &now, !i);
		machine_free(&before);
		before = now;
	}
	machine_free(&before);
	return err ? fail_read(err) : 0;
}

int cmd_triage(const struct cmd *cmd, struct opts *o)
{
	if (o->args.nr)
		return usage_error(cmd->name, "'%s' is not an interval: [interval [count]] are "
				   "seconds and a number of times", o->args.at[0]);
	return past_asked(o) ? past_triage(cmd, o) : look(&triage_page, o);
}

int cmd_census(const struct cmd *cmd, const struct opts *o)
{
	const char *beyond = opt_foreign(o, OPTS_CENSUS);

	if (!o->kernel_memory)
		return usage_error(cmd->name, "--census needs -k: it is about the kernel's memory");
	if (beyond || o->argv)
		return usage_error(cmd->name, "%s%s: not with --census, which only asks /proc and "
				   "/sys", beyond ? "--" : "a program to run",
				   beyond ? beyond : "");
	if (o->cache || o->module || o->call_site)
		return usage_error(cmd->name, "--cache, --module, --call-site: not with --census");
	if (o->args.nr)
		return usage_error(cmd->name, "'%s' is not an interval: [interval [count]] are "
				   "seconds and a number of times", o->args.at[0]);
	return look(&census_page, o);
}
