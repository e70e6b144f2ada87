// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/rss/ages.c ctl/base/ids.c */
#include <errno.h>
#include <string.h>

#include "rss/ages.h"
#include "tap.h"

#define SECOND	1000000000ULL
#define PID	7

/* Two regions that a process has; nothing is marked until somebody uses it. */
static __u64 present[2][8], touched[2][8];
static int nr_forgotten, nr_done, fails;

static int fake_read(void *ctx, pid_t pid, ages_fn fn, void *to)
{
	(void)ctx;
	if (pid != PID)
		return -ESRCH;
	if (fails)
		return fails;
	for (int i = 0; i < 2; i++)
		fn(to, 1024 + i * AGES_REGION, present[i], touched[i]);
	return 0;
}

static int fake_forget(void *ctx, pid_t pid)
{
	(void)ctx;
	(void)pid;
	memset(touched, 0, sizeof(touched));
	nr_forgotten++;
	return 0;
}

static int fake_done(void *ctx)
{
	(void)ctx;
	nr_done++;
	return 0;
}

static const struct ages_way fake = { fake_read, fake_forget, fake_done, NULL };

static void use(int region, int page)
{
	present[region][page / 64] |= 1ULL << page % 64;
	touched[region][page / 64] |= 1ULL << page % 64;
}

/* Seconds, of one page. */
static __u64 idle(const struct ages *a, __u64 page)
{
	return ages_idle(a, PID, (1024 + page) * 4096, (1024 + page + 1) * 4096) / SECOND;
}

static void begin(void)
{
	memset(present, 0, sizeof(present));
	memset(touched, 0, sizeof(touched));
	nr_forgotten = nr_done = fails = 0;
}

static void pages(void)
{
	struct ages *a = ages_new(&fake);

	begin();
	ages_add(a, PID);
	ages_add(a, PID);
	is(ages_processes(a), 1, "a process is watched once");
	for (int i = 0; i < 4; i++)
		use(0, i);
	is(ages_idle(a, PID, 0, 4096), 0, "before the first sample nothing is known");
	ages_sample(a, 10 * SECOND, true);
	is(idle(a, 0), 0, "at the first sample all may have been used just now");
	use(0, 1);
	ages_sample(a, 20 * SECOND, true);
	is(idle(a, 0), 10, "what was not used is as old as the last time it may have been");
	is(idle(a, 1), 0, "what was is not");
	use(0, 2);
	ages_sample(a, 30 * SECOND, true);
	is(idle(a, 0), 20, "it becomes older");
	is(idle(a, 1), 10, "what was used since then, too");
	is(idle(a, 2), 0, "each by itself");
	is(nr_forgotten, 3, "each sample begins anew");
	is(nr_done, 3, "and ends once");
	ages_sample(a, 40 * SECOND, false);
	is(nr_forgotten, 3, "but one that only looks");
	is(idle(a, 3), 30, "which sees as much");
	ages_free(a);
}

static void ranges(void)
{
	struct ages *a = ages_new(&fake);

	begin();
	ages_add(a, PID);
	for (int i = 500; i < 512; i++)
		use(0, i);
	for (int i = 0; i < 10; i++)
		use(1, i);
	ages_sample(a, 10 * SECOND, true);
	use(0, 505);
	ages_sample(a, 30 * SECOND, true);
	is(ages_idle(a, PID, 1524 * 4096, 1529 * 4096), 20 * SECOND, "a block of stale pages");
	is(ages_idle(a, PID, 1524 * 4096, 1529 * 4096 + 1), 0,
	   "one that has a byte in a page that is used is used");
	is(ages_idle(a, PID, 1530 * 4096 + 8, 1540 * 4096 - 8), 20 * SECOND,
	   "blocks go over regions");
	is(ages_idle(a, PID, 1540 * 4096, 1547 * 4096), 0, "what is not there is not known");
	is(ages_idle(a, PID, 5, 5), 0, "nor is nothing");
	is(ages_idle(a, 8, 1524 * 4096, 1525 * 4096), 0, "nor who is not watched");
	ages_free(a);
}

/* mremap(): its pages were used elsewhere, which nobody knows here. */
static void late(void)
{
	struct ages *a = ages_new(&fake);

	begin();
	ages_add(a, PID);
	use(0, 1);
	ages_sample(a, 10 * SECOND, true);
	present[0][0] |= 1;
	ages_sample(a, 20 * SECOND, true);
	is(idle(a, 0), 0, "a page that is new counts as used, marked or not");
	ages_sample(a, 30 * SECOND, true);
	is(idle(a, 0), 10, "from then on");
	present[0][0] &= ~2ULL;
	ages_sample(a, 40 * SECOND, true);
	is(idle(a, 1), 30, "one that was swapped out was not used");
	use(0, 1);
	ages_sample(a, 50 * SECOND, true);
	is(idle(a, 1), 0, "until it comes back");
	ages_free(a);
}

static void gone(void)
{
	struct ages *a = ages_new(&fake);

	begin();
	ages_add(a, PID);
	ages_add(a, 8);
	use(0, 0);
	is(ages_sample(a, SECOND, true), 0, "a process that is gone is no error");
	is(ages_processes(a), 1, "and not there");
	ok(!ages_has(a, 8) && ages_has(a, PID), "but the others are");
	fails = -EAGAIN;
	is(ages_sample(a, 2 * SECOND, true), -EAGAIN, "what goes wrong is told");
	is(ages_samples(a), 2, "how often it was asked");
	ages_free(a);
	ages_free(NULL);
}

int main(void)
{
	pages();
	ranges();
	late();
	gone();
	return tap_done();
}
