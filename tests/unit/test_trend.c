// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/report/trend.c -lm */
/*
 * Programs whose births and deaths are known, watched for a minute or an hour: what is
 * said of what lives at the end.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/trend.h"
#include "tap.h"

#define SECOND	1000000000.0
#define MINUTE	(60 * SECOND)
#define HOUR	(60 * MINUTE)

static unsigned int seed = 1;

static double chance(void)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8 & 0xffff) / 65536.0;
}

struct life {
	const char *name;
	double watched, from, to, rate;	/* births a second between these times */
	double (*lives)(double born, double watched);	/* for so long; negative: for ever */
	double sometimes;		/* only such a share of births lives on */
	double unknown;
	enum trend_reach reach;
	enum trend_kind wanted;
};

static double for_ever(double born, double watched)
{
	(void)born;
	(void)watched;
	return -1;
}

static double a_second(double born, double watched)
{
	(void)born;
	(void)watched;
	return SECOND;
}

static double a_fifth(double born, double watched)
{
	(void)born;
	return watched / 5;
}

/* About a third of the time, some much longer: evicted at random. */
static double at_random(double born, double watched)
{
	(void)born;
	return -log(1 - chance()) * watched / 3;
}

/* All are freed at three quarters of the time, and so is what comes then at the end. */
static double until_sweep(double born, double watched)
{
	return born < 0.75 * watched ? 0.75 * watched - born : -1;
}

static const struct life lives[] = {
	{ "nothing is freed", MINUTE, 0, MINUTE, 10, for_ever, 1, 0, 0, TREND_GROWING },
	{ "nothing is freed, an hour", HOUR, 0, HOUR, 10, for_ever, 1, 0, 0, TREND_GROWING },
	{ "one in fifty is forgotten", MINUTE, 0, MINUTE, 50, for_ever, 0.02, 0, 0,
	  TREND_GROWING },
	{ "it cannot be reached", MINUTE, 0, MINUTE, 10, for_ever, 1, 0, TREND_NOT_REACHED,
	  TREND_LEAKING },
	{ "it can be reached", MINUTE, 0, MINUTE, 10, for_ever, 1, 0, TREND_REACHED, TREND_CACHE },
	{ "a lost block of the beginning", MINUTE, 0, SECOND, 10, for_ever, 1, 0,
	  TREND_NOT_REACHED, TREND_LOST },
	{ "at the beginning only", MINUTE, 0, 3 * SECOND, 100, for_ever, 1, 0, 0, TREND_START },
	{ "a cache that fills for 20 s", MINUTE, 0, 20 * SECOND, 20, for_ever, 1, 0, 0,
	  TREND_FILLED },
	{ "a second each", MINUTE, 0, MINUTE, 50, a_second, 1, 0, 0, TREND_CHURN },
	{ "a queue of twelve seconds", MINUTE, 0, MINUTE, 20, a_fifth, 1, 0, 0, TREND_BOUNDED },
	{ "a queue, an hour", HOUR, 0, HOUR, 1, a_fifth, 1, 0, 0, TREND_BOUNDED },
	{ "freed at random", HOUR, 0, HOUR, 5, at_random, 1, 0, 0, TREND_TURNOVER },
	{ "swept away from time to time", MINUTE, 0, MINUTE, 20, until_sweep, 1, 0, 0,
	  TREND_BOUNDED },
	{ "a cache that was full before", MINUTE, 0, MINUTE, 20, for_ever, 1, 1190, 0,
	  TREND_REPLACING },
	{ "lost, beside a cache that was full before", MINUTE, 0, MINUTE, 20, for_ever, 1, 3000,
	  TREND_NOT_REACHED, TREND_LEAKING },
	{ "lost, one in fifty", MINUTE, 0, MINUTE, 50, for_ever, 0.02, 3000, TREND_NOT_REACHED,
	  TREND_LEAKING },
	{ "lost since the second half", MINUTE, 35 * SECOND, MINUTE, 5, for_ever, 1, 0,
	  TREND_NOT_REACHED, TREND_LEAKING },
	{ "lost for a while", MINUTE, 10 * SECOND, 30 * SECOND, 5, for_ever, 1, 0,
	  TREND_NOT_REACHED, TREND_LOST },
	{ "five blocks", MINUTE, 0, MINUTE, 0.08, for_ever, 1, 0, 0, TREND_EARLY },
	{ "six blocks", 33 * SECOND, 0, 33 * SECOND, 1 / 6.0, for_ever, 1, 0, 0, TREND_GROWING },
	{ "watched for a second", SECOND, 0, SECOND, 1000, for_ever, 1, 0, 0, TREND_EARLY },
};

static void live_in(struct trend *t, const struct life *l)
{
	for (double born = l->from; born < l->to; born += SECOND / l->rate) {
		const double lives_for = l->lives(born, l->watched);

		if (lives_for >= 0 && born + lives_for < l->watched)
			continue;
		if (l->sometimes >= 1 || chance() < l->sometimes)
			trend_add(t, (__u64)l->watched, (__u64)(l->watched - born), 100, 1);
	}
}

static struct trend live(const struct life *l)
{
	struct trend t = { .unknown = l->unknown };

	live_in(&t, l);
	return t;
}

static void test_lives(void)
{
	for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
		const struct trend t = live(&lives[i]);
		const struct trend_verdict v = trend_judge(&t, lives[i].reach);

		is(v.kind, lives[i].wanted, "%s: %s", lives[i].name, trend_name(lives[i].wanted));
	}
}

/* The true rate lies within the error, 95 times of 100. */
static void test_rate(void)
{
	unsigned int within = 0;

	for (int n = 0; n < 200; n++) {
		struct trend t = { .unknown = 0 };
		struct trend_verdict v;
		double at = 0;

		while ((at += -log(1 - chance()) * SECOND / 5) < MINUTE)
			trend_add(&t, (__u64)MINUTE, (__u64)(MINUTE - at), 1000, 1);
		v = trend_judge(&t, TREND_REACH_UNKNOWN);
		within += fabs(v.per_hour - 5 * 3600 * 1000.0) <= v.error;
	}
	ok(within >= 180, "the rate is within its error: %u of 200", within);
}

/* Ten blocks a second from @begin on, until memory is looked at, which takes long. */
static struct trend live_until_looked_at(__u64 begin, __u64 looked, __u64 now, __u64 told)
{
	const __u64 end = trend_end(begin, told, now);
	struct trend t = { .unknown = 0 };

	for (__u64 born = begin; born < looked; born += 100000000ULL)
		trend_add(&t, end - begin, end > born ? end - born : 0, 100, 1);
	return t;
}

static void test_looked_at(void)
{
	const __u64 second = 1000000000ULL, begin = 5 * second, looked = begin + 60 * second;
	struct trend t = live_until_looked_at(begin, looked, looked + 30 * second, looked);
	struct trend_verdict v = trend_judge(&t, TREND_REACH_UNKNOWN);

	is(v.kind, TREND_GROWING, "half a minute of looking does not end the growth");
	ok(fabs(v.per_hour - 10 * 3600 * 100.0) < 0.02 * 10 * 3600 * 100,
	   "nor is it slower for that: %.0f bytes an hour", v.per_hour);
	t = live_until_looked_at(begin, looked, looked + 30 * second, 0);
	is(trend_judge(&t, TREND_REACH_UNKNOWN).kind, TREND_FILLED,
	   "where nothing was born for as long it does");
	is(trend_end(begin, 0, looked), looked, "nobody looked: until now");
	is(trend_end(begin, begin - 1, looked), looked, "before it began: until now");
	is(trend_end(begin, looked + 1, looked), looked, "later than the snapshot: until that");
}

static void test_edges(void)
{
	struct trend t, both;
	struct trend_verdict v;

	memset(&t, 0, sizeof(t));
	is(trend_judge(&t, TREND_REACH_UNKNOWN).kind, TREND_NONE, "of nothing, nothing is said");
	trend_add(&t, 0, 0, 1, 1);
	trend_add(&t, 0, ~0ULL, 1, 1);
	is(trend_judge(&t, TREND_REACH_UNKNOWN).kind, TREND_EARLY, "no time at all");
	is(t.blocks[0], 2, "what was born before counts as of the beginning");
	t = live(&lives[0]);
	memset(&both, 0, sizeof(both));
	live_in(&both, &lives[0]);
	live_in(&both, &lives[0]);
	v = trend_judge(&both, TREND_REACH_UNKNOWN);
	ok(fabs(v.per_hour - 2 * trend_judge(&t, TREND_REACH_UNKNOWN).per_hour) < 1,
	   "two rows grow twice as fast as one");
	for (int i = 1; i < NR_TREND; i++)
		ok(trend_name(i), "verdict %d has a name", i);
	ok(!trend_name(NR_TREND), "and no more have");
}

/*
 * What one stack has handed out: births at even distances, of which each lives as long as it is
 * said to, and somebody looked at @looked.
 */
struct born {
	double rate, from, to, lives;	/* a second; ns; ns, negative: for ever */
	double bytes;
};

static void add_born(struct trend *t, const struct born *b, double watched, double looked)
{
	for (double born = b->from; born < b->to; born += SECOND / b->rate) {
		const bool left = b->lives < 0 || born + b->lives >= watched;
		const bool then = born < looked && (b->lives < 0 || born + b->lives >= looked);
		const int part = looked > 0 ? (int)(born * TREND_PARTS / looked) : 0;

		if (left)
			trend_add(t, (__u64)watched, (__u64)(watched - born), (__u64)b->bytes, 1);
		t->then.born += left && born >= looked;
		if (!then)
			continue;
		t->then.all++;
		t->then.blocks[part]++;
		t->then.left[part] += left;
	}
	t->then.span_ns = (__u64)looked;
	t->then.since_ns = looked > 0 ? (__u64)(watched - looked) : 0;
}

static struct trend_verdict judge_born(const struct born *of, size_t nr, double watched,
				       double looked)
{
	struct trend t = { .unknown = 0 };

	for (size_t i = 0; i < nr; i++)
		add_born(&t, &of[i], watched, looked);
	return trend_judge(&t, TREND_REACH_UNKNOWN);
}

/* A cache whose entries live for ten seconds, and some that stay for ever, by one stack. */
static void test_beside_a_cache(void)
{
	static const double watched[] = { 40, 70, 100, 300 }, leaks[] = { 1, 4 };

	for (int i = 0; i < 8; i++) {
		const double all = watched[i / 2] * SECOND, rate = leaks[i % 2];
		const struct born of[] = { { 40, 0, all, 10 * SECOND, 180 },
					   { rate, 0, all, -1, 180 } };
		const double looked[] = { 0, all / 2, all * 0.7 };

		for (int k = 0; k < 3; k++) {
			const struct trend_verdict v = judge_born(of, 2, all, looked[k]);

			is(v.kind, TREND_GROWING, "%g a second behind a cache, %g s, %g: growing",
			   rate, watched[i / 2], looked[k] / all);
			ok(fabs(v.per_hour - rate * 180 * 3600) <= v.error + 1,
			   "its rate is that of those that stay: %.0f +-%.0f, not %.0f",
			   rate * 180 * 3600, v.error, v.per_hour);
			ok(v.settled_ns >= 10 * SECOND - all / TREND_PARTS,
			   "which have reached the age of the cache's");
		}
		is(judge_born(of, 1, all, all / 2).kind, watched[i / 2] < 80 ? TREND_BOUNDED :
		   TREND_CHURN,
		   "the cache alone does not grow: %g s", watched[i / 2]);
	}
}

static void test_at_random(void)
{
	for (double share = 0.1; share < 0.55; share += 0.1)
		for (int looked = 0; looked < 2; looked++) {
			struct trend t = { .unknown = 0 };
			enum trend_kind kind;

			for (double born = 0; born < MINUTE; born += SECOND / 50) {
				const struct born b = { 50, born, born + 1,
							-log(1 - chance()) * share * MINUTE, 100 };

				add_born(&t, &b, MINUTE, looked * MINUTE / 2);
			}
			kind = trend_judge(&t, TREND_REACH_UNKNOWN).kind;
			ok(!trend_grows(kind) && kind != TREND_SHRINKING,
			   "freed at random, %.1f of the time%s: %s", share,
			   looked ? ", looked at" : "", trend_name(kind));
		}
}

/* Many of the beginning stay, a few of the last moments are there: no age is said of all. */
static void test_of_the_beginning(void)
{
	static const struct born of[] = { { 2000, 0, SECOND, -1, 100 },
					  { 30, 0, 25 * SECOND, SECOND, 100 } };
	struct trend_verdict v = judge_born(of, 2, 25 * SECOND, 0);

	is(v.kind, TREND_START, "most are of the beginning");
	is(v.start, 2000, "which are counted");
	is(v.all, 2030, "beside all");
	is(v.older, 2000, "and older than the others");
	ok(v.since_ns >= SECOND && v.since_ns < 4 * SECOND, "whose age is told: %g",
	   v.since_ns / SECOND);
	v = judge_born(of + 1, 1, 25 * SECOND, 0);
	is(v.kind, TREND_CHURN, "without them it is churn");
	is(v.older, 0, "of which none is older");
}

/* Twice as many each part: because half of the old ones went, or because it gets faster. */
static void twice(struct trend *t, int by, double left)
{
	*t = (struct trend){ .unknown = 0 };
	for (int part = 0; part < TREND_PARTS; part++)
		for (int i = 0; i < (by ? 2 << part / 2 : 10); i++)
			trend_add(t, (__u64)MINUTE, (__u64)(MINUTE - (part + 0.5) * MINUTE /
				  TREND_PARTS), 16, 1);
	t->then.span_ns = (__u64)MINUTE / 2;
	t->then.since_ns = (__u64)MINUTE / 2;
	for (int i = 4; i < 12; i++) {
		t->then.blocks[i] = 10;
		t->then.left[i] = 10 * left;
	}
	t->then.all = 100;
	t->then.born = 100;
}

static void test_cohort(void)
{
	struct trend t;

	twice(&t, 1, 1);
	is(trend_judge(&t, TREND_REACH_UNKNOWN).kind, TREND_GROWING,
	   "all that lived are left: it doubles each time");
	is(trend_judge(&t, TREND_NOT_REACHED).kind, TREND_LEAKING,
	   "and if nobody has them, it leaks");
	t.then.span_ns = 0;
	is(trend_judge(&t, TREND_REACH_UNKNOWN).kind, TREND_BOUNDED, "nobody looked: they went");
	twice(&t, 0, 1);
	is(trend_judge(&t, TREND_REACH_UNKNOWN).kind, TREND_GROWING, "as many, and they stay");
	t.unknown = 1000;
	is(trend_judge(&t, TREND_REACH_UNKNOWN).kind, TREND_REPLACING,
	   "each may be for an old one");
	is(trend_judge(&t, TREND_NOT_REACHED).kind, TREND_LEAKING, "but not what nobody has");
	t.grown = 150;
	is(trend_judge(&t, TREND_REACH_UNKNOWN).kind, TREND_GROWING,
	   "nor where all became more");
	twice(&t, 0, 0.4);
	is(trend_judge(&t, TREND_REACH_UNKNOWN).kind, TREND_TURNOVER,
	   "as many old ones as new ones, but most of them go");
	t.then.all = 300;
	is(trend_judge(&t, TREND_REACH_UNKNOWN).kind, TREND_SHRINKING,
	   "and there are fewer than there were");
	is(trend_judge(&t, TREND_NOT_REACHED).kind, TREND_LEAKING,
	   "of what nobody has, none went");
}

/* One block that realloc() makes larger and larger. */
static void test_larger(void)
{
	struct trend t = { .then = { .span_ns = 4 * SECOND, .grown_ns = 8 * SECOND, .all = 1,
				     .grown = 8 << 20, .grown_to = 12 << 20 } };
	struct trend_verdict v;

	trend_add(&t, 12 * SECOND, 12 * SECOND, 12 << 20, 1);
	v = trend_judge(&t, TREND_REACH_UNKNOWN);
	is(v.kind, TREND_GROWING, "a block that becomes larger grows");
	ok(v.by_size, "by its size");
	ok(fabs(v.per_hour - 3600.0 * (1 << 20)) < 1000, "at its rate: %.0f", v.per_hour);
	ok(!(v.error > 0), "whose error nobody knows");
	is(trend_judge(&t, TREND_REACHED).kind, TREND_CACHE, "it may be a cache");
	t.then.grown = 4000;
	is(trend_judge(&t, TREND_REACH_UNKNOWN).kind, TREND_START, "but not by some bytes");
	t.then.grown = 8192;
	is(trend_judge(&t, TREND_REACH_UNKNOWN).kind, TREND_START, "nor by a small part");
}

/* What the kernel can take back has no part in when memory is full. */
static void test_reclaimable(void)
{
	struct trend t = { 0 };
	struct trend_verdict v;

	for (int part = 0; part < TREND_PARTS; part++)
		for (int i = 0; i < 8; i++) {
			const __u64 age = MINUTE - (part + 0.5) * MINUTE / TREND_PARTS;

			trend_add(&t, MINUTE, age, 1000, 1);
			if (i < 2)
				trend_add_reclaimable(&t, MINUTE, age, 1000, 1);
		}
	v = trend_judge(&t, TREND_REACH_UNKNOWN);
	is(v.kind, TREND_GROWING, "it grows");
	ok(fabs(v.reclaimable * 4 - v.per_hour) < 1, "a quarter of its rate can be taken back");
	for (int part = 0; part < TREND_PARTS; part++)
		for (int i = 2; i < 8; i++)
			trend_add_reclaimable(&t, MINUTE, MINUTE - (part + 0.5) * MINUTE /
					      TREND_PARTS, 1000, 1);
	v = trend_judge(&t, TREND_REACH_UNKNOWN);
	ok(fabs(v.reclaimable - v.per_hour) < 1, "or all of it");
	trend_add_reclaimable(&t, 0, 0, 1, 1);
	trend_add_reclaimable(&t, MINUTE, 0, 1000, 1);
	ok(trend_judge(&t, TREND_REACH_UNKNOWN).reclaimable <= v.per_hour + 1,
	   "but none of the first part and the last ones, which are in no rate");
}

int main(void)
{
	test_lives();
	test_rate();
	test_looked_at();
	test_edges();
	test_beside_a_cache();
	test_at_random();
	test_of_the_beginning();
	test_cohort();
	test_larger();
	test_reclaimable();
	return tap_done();
}
