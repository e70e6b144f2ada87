// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/triage/diagnose_plan.c */
/* When a recording of `memtap diagnose` takes too much; how what it followed developed. */
#include <string.h>

#include "tap.h"
#include "triage/diagnose.h"
#include "triage/int.h"

/* What is not asked here. */
bool machine_cgroup(const struct machine_at *at, __s32 pid, char *path, size_t len)
{
	return false;
}

void machine_account(const struct machine *m, struct machine_account *a)
{
	memset(a, 0, sizeof(*a));
}

__s64 triage_own(const struct machine_holder *h)
{
	return (__s64)h->anon;
}

void triage_advise(struct triage_finding *f, const struct machine_at *at)
{
}

/* --- the limit of 5 % --------------------------------------------------------------------- */

/*
 * The cost, in seconds of a CPU, of a recording that is planned for @planned seconds and takes
 * @percent of a CPU, looked at each quarter of a second.
 */
static double cost_of(double percent, double planned)
{
	double s = 0.25;

	while (s < planned && !diagnose_dear(percent / 100 * s, s, planned))
		s += 0.25;
	return percent / 100 * (s < planned ? s : planned);
}

static void test_dear(void)
{
	static const double percents[] = { 0, 1, 4.9, 5.1, 10, 50, 100, 400 };
	bool within = true;

	ok(!diagnose_dear(0.99, 20, 20), "4.95 %% at the end of 20 s is allowed");
	ok(diagnose_dear(0.16, 3, 20), "5.3 %% after three seconds is too much");
	ok(!diagnose_dear(0.16, 2.9, 20), "in less time that says little");
	ok(diagnose_dear(1.1, 1, 20), "but more than 5 %% of all that is planned is too much at "
	   "once");
	ok(!diagnose_dear(0.2, 0.5, 2), "of short recordings a quarter of a second is allowed");
	ok(diagnose_dear(0.26, 0.5, 2), "and not more");
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		/* (a look comes a quarter of a second late at most) */
		if (cost_of(percents[i], 20) > 0.05 * 20 + percents[i] / 100 * 0.25)
			within = false;
	ok(within, "whatever a recording takes, it costs 5 %% of its planned time at most");
	ok(cost_of(4.9, 20) > 0.97, "what takes less is not ended");
}

/* --- how it develops ------------------------------------------------------------------------ */

#define MIB	(1LL << 20)

/* A sample each second: "1 5 9", in MiB. */
static enum pace_kind pace_of(const __s64 *mib, size_t nr)
{
	struct pace p = { .nr = 0 };

	for (size_t i = 0; i < nr; i++)
		diagnose_sample(&p, 1000000000ULL * (i + 1), mib[i] < 0 ? -1 : mib[i] * MIB);
	diagnose_pace(&p);
	return p.kind;
}

#define PACE_OF(...) pace_of((const __s64[]){ __VA_ARGS__ }, \
			     sizeof((const __s64[]){ __VA_ARGS__ }) / sizeof(__s64))

static void test_pace(void)
{
	ok(PACE_OF(5) == PACE_NONE, "one sample says nothing");
	ok(PACE_OF(-1, -1, 7) == PACE_NONE, "nor do samples without it");
	ok(PACE_OF(5, 9) == PACE_SHORT, "two are too few to say how it grows");
	ok(PACE_OF(5, 6, 7, 8, 9, 10, 11) == PACE_STEADY, "steady");
	ok(PACE_OF(5, 5, 5, 6, 6, 20, 60) == PACE_UNEVEN, "uneven");
	ok(PACE_OF(1, 4, 8, 2, 5, 8, 1, 5) == PACE_WAVES, "it falls, too");
	ok(PACE_OF(5, 30, 60, 60, 60, 60, 60, 60) == PACE_ENDED, "it has ended");
	ok(PACE_OF(5, 5, 5, 5, 5, 5) == PACE_FLAT, "flat");
}

int main(void)
{
	test_dear();
	test_pace();
	return tap_done();
}
