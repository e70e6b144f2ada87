// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decide whether a row of live blocks grows.
 *
 * The blocks of one stack may have different lifetimes: some are kept for ever, some for a
 * while.  The rate is computed from the oldest interval on in which as many blocks survive in new
 * intervals as in old ones.  That is all intervals, or, if the newest ones have more survivors,
 * those whose blocks have reached the age at which they stay.  The rate is the sum of bytes
 * allocated in these intervals, divided by their duration.  The first interval contains start-up
 * allocations, the last one short-lived blocks.  The error is that of a compound Poisson process:
 * twice the square root of the sum of the squared sizes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "report/trend.h"

#define FIRST		1		/* parts that count */
#define LAST		(TREND_PARTS - 2)
#define MIDDLE		(TREND_PARTS / 2)	/* FIRST .. 7 and 8 .. LAST */
#define LEAST_RUN	4		/* parts that have to be alike */
#define LONG_RUN	7		/* where nothing else speaks for it */
#define FEW		5.0		/* blocks: the error of fewer is larger than their rate */
#define SOME		16.0		/* that tell more than chance does which half is larger */
#define LIVED		3.0		/* of those that lived meanwhile, to say what became of
					 * them */
#define STAYS		0.9		/* of those that lived, more are left where all grows */
#define GOES		0.5		/* the older half by the newer one, at least */
#define DECAY		0.05		/* a part: survivors may become fewer by that where
					 * older ones stay */
#define LARGER		16		/* a part of what they were, and */
#define LARGER_BYTES	4096		/* bytes that blocks have to become larger by */
#define SHORT_NS	2000000000ULL
#define NS_PER_HOUR	3600e9

__u64 trend_end(__u64 begin_ns, __u64 looked_ns, __u64 now_ns)
{
	return looked_ns > begin_ns && looked_ns < now_ns ? looked_ns : now_ns;
}

static size_t part_of(__u64 watched_ns, __u64 age_ns)
{
	const __u64 at = age_ns < watched_ns ? watched_ns - age_ns : 0;
	const size_t part =
		watched_ns ? (size_t)((double)at * TREND_PARTS / (double)watched_ns) : 0;

	return part < TREND_PARTS ? part : TREND_PARTS - 1;
}

void trend_add(struct trend *t, __u64 watched_ns, __u64 age_ns, __u64 bytes, double weight)
{
	const size_t part = part_of(watched_ns, age_ns);

	t->blocks[part] += weight;
	t->bytes[part] += weight * (double)bytes;
	t->squares[part] += weight * (double)bytes * (double)bytes;
	if (watched_ns > t->watched_ns)
		t->watched_ns = watched_ns;
}

void trend_add_reclaimable(struct trend *t, __u64 watched_ns, __u64 age_ns, __u64 bytes,
			   double weight)
{
	t->reclaimable[part_of(watched_ns, age_ns)] += weight * (double)bytes;
}

static double sum(const double *of, int from, int to)
{
	double n = 0;

	for (int i = from; i <= to; i++)
		n += of[i];
	return n;
}

static int last_part(const struct trend *t)
{
	int i = TREND_PARTS - 1;

	while (i > 0 && !(t->blocks[i] > 0))
		i--;
	return i;
}

/* The first part that counts and has survivors; TREND_PARTS: none. */
static int first_part(const struct trend *t)
{
	int i = FIRST;

	while (i < TREND_PARTS && !(t->blocks[i] > 0))
		i++;
	return i;
}

/* From the beginning of @part until now. */
static __u64 age_of_part(const struct trend *t, int part)
{
	return t->watched_ns / TREND_PARTS * (__u64)(TREND_PARTS - part);
}

static double mean(const struct trend *t, int from, int to)
{
	return sum(t->blocks, from, to) / (to - from + 1);
}

/* A tenth of all that count, at most, is older than this part. */
static int hardly_any_before(const struct trend *t)
{
	const double few = sum(t->blocks, FIRST, LAST) / 10;
	int i = FIRST;

	while (i < LAST && sum(t->blocks, FIRST, i) <= few)
		i++;
	return i;
}

/* Of @from .. @to the older half's survivors by the newer half's. */
static double share_of(const struct trend *t, int from, int to)
{
	const int half = (to - from + 1) / 2;
	const double new = mean(t, to - half + 1, to);

	return new > 0 ? mean(t, from, from + half - 1) / new : 0;
}

/*
 * Of the blocks that lived at a moment meanwhile, those that had reached the age of @age_ns by
 * then, but for those of the beginning: what became of them.
 */
static void settled(const struct trend *t, __u64 age_ns, struct trend_verdict *v)
{
	const struct trend_then *then = &t->then;
	const __u64 width = then->span_ns / TREND_PARTS;

	v->then = v->left = 0;
	v->then_age_ns = age_ns;
	for (unsigned int i = 0; i < TREND_PARTS && width; i++) {
		if (width * i < t->watched_ns / TREND_PARTS ||
		    width * (i + 1) + age_ns > then->span_ns)
			continue;
		v->then += then->blocks[i];
		v->left += then->left[i];
	}
}

/* As many old ones as new ones, and the newest part has not many more than the others. */
static bool is_even(const struct trend *t, int to, double share)
{
	const double others = mean(t, FIRST, to - 1);
	const double least = to == LAST ? GOES : exp(-DECAY * (to - FIRST + 1) / 2);

	return share >= least && t->blocks[to] <= 2 * others + 3 * sqrt(others > 1 ? others : 1);
}

/* Do blocks stay once they are older than part @to? */
static bool stays(const struct trend *t, int to, struct trend_verdict *v)
{
	settled(t, age_of_part(t, to + 1), v);
	v->share = share_of(t, FIRST, to);
	if (!is_even(t, to, v->share))
		return false;
	if (v->then >= LIVED)
		return v->left >= v->then * STAYS;
	if (to == LAST)
		return true;
	return !t->then.span_ns && to - FIRST + 1 >= LONG_RUN &&
	       sum(t->blocks, FIRST, to) >= SOME;
}

/*
 * The last of the parts from FIRST on whose blocks stay; 0: there are none.  Fewer old ones than
 * new ones may mean that it grows faster and faster: where somebody looked, who lived then tells.
 */
static int last_that_stays(const struct trend *t, struct trend_verdict *v)
{
	for (int to = LAST; to >= FIRST + LEAST_RUN - 1; to--)
		if (sum(t->blocks, FIRST, to) >= FEW && stays(t, to, v))
			return to;
	stays(t, LAST, v);
	return v->then >= LIVED && v->left >= v->then * STAYS ? LAST : 0;
}

static void set_rate(const struct trend *t, int from, int to, struct trend_verdict *v)
{
	const double hours = (double)t->watched_ns * (to - from + 1) / TREND_PARTS / NS_PER_HOUR;

	v->per_hour = sum(t->bytes, from, to) / hours;
	v->error = 2 * sqrt(sum(t->squares, from, to)) / hours;
	v->reclaimable = sum(t->reclaimable, from, to) / hours;
	v->counted = sum(t->blocks, from, to);
	v->settled_ns = to < LAST ? age_of_part(t, to + 1) : 0;
}

/* realloc() makes blocks larger, which were born long ago. */
static bool became_larger(const struct trend *t)
{
	const struct trend_then *then = &t->then;

	return then->grown >= LARGER_BYTES && then->grown_ns &&
	       then->grown >= (then->grown_to - then->grown) / LARGER;
}

/* What nobody has is never freed: it becomes more, or it does not. */
static enum trend_kind shape_of_lost(const struct trend *t, struct trend_verdict *v)
{
	const int first = first_part(t);
	struct trend alone = *t;
	int to, from = FIRST;

	if (t->watched_ns < SHORT_NS || last_part(t) < TREND_PARTS - 5 ||
	    first >= TREND_PARTS - 2 || sum(t->blocks, FIRST, TREND_PARTS - 1) < FEW)
		return TREND_LOST;
	/* those that went were others of its stack */
	memset(&alone.then, 0, sizeof(alone.then));
	to = last_that_stays(&alone, v);
	if (!to) {
		to = LAST;
		/* it began to leak meanwhile */
		from = first >= MIDDLE / 2 && first <= LAST - LEAST_RUN ? first : FIRST;
	}
	v->share = share_of(t, from, to);
	set_rate(t, from, to, v);
	return TREND_LEAKING;
}

/* A block in use for a moment, a queue, or freed sooner or later: there is an end of it. */
static enum trend_kind shape_of_ending(const struct trend *t, struct trend_verdict *v)
{
	const double all = sum(t->blocks, 0, TREND_PARTS - 1);
	const double counted = sum(t->blocks, FIRST, TREND_PARTS - 1);
	const int first = first_part(t);

	if (first >= MIDDLE - 1 ||
	    mean(t, FIRST, MIDDLE / 2) < mean(t, MIDDLE, LAST) / 10) {
		const int from = first >= TREND_PARTS - 2 ? first : hardly_any_before(t);

		v->since_ns = age_of_part(t, from) + t->held_ns;
		v->older = sum(t->blocks, 0, from - 1);
		return first >= TREND_PARTS - 2 ? TREND_CHURN : TREND_BOUNDED;
	}
	if (counted < SOME && v->then < LIVED)
		return TREND_EARLY;
	return t->then.all >= FEW && all < t->then.all * STAYS ? TREND_SHRINKING : TREND_TURNOVER;
}

/* A cache that was full before: each new one is for an old one, which nobody knows. */
static bool may_replace(const struct trend *t)
{
	const double all = sum(t->blocks, 0, TREND_PARTS - 1);
	const double born = t->then.span_ns ? t->then.born : all;

	return t->unknown > born / 2 && t->grown < all / 2;
}

/* Few or none since the beginning, or for some time. */
static enum trend_kind shape_of_past(const struct trend *t, struct trend_verdict *v)
{
	const double counted = sum(t->blocks, FIRST, TREND_PARTS - 1);
	const int last = last_part(t);

	if (last <= 1)
		return TREND_START;
	if (v->all < FEW)
		return TREND_EARLY;
	if (last < TREND_PARTS - 5) {
		v->since_ns = age_of_part(t, last + 1) + t->held_ns;
		return TREND_FILLED;
	}
	if (counted >= FEW)
		return TREND_NONE;
	if (v->start < 9 * counted)
		return TREND_EARLY;
	v->since_ns = age_of_part(t, first_part(t)) + t->held_ns;
	v->older = v->start;
	return TREND_START;
}

/* How births and deaths go, whatever can be reached. */
static enum trend_kind shape(const struct trend *t, struct trend_verdict *v)
{
	enum trend_kind kind;
	int to;

	if (t->watched_ns < SHORT_NS)
		return TREND_EARLY;
	kind = shape_of_past(t, v);
	if (kind != TREND_NONE)
		return kind;
	to = last_that_stays(t, v);
	/* what lives for a part or two has been seen to end many times */
	if (to && first_part(t) < TREND_PARTS - 2 &&
	    (v->then >= LIVED || first_part(t) < MIDDLE - 1)) {
		set_rate(t, FIRST, to, v);
		return may_replace(t) ? TREND_REPLACING : TREND_GROWING;
	}
	kind = shape_of_ending(t, v);
	/* most of it has been there since the beginning */
	if ((kind == TREND_CHURN || kind == TREND_BOUNDED) && v->start > v->all / 2)
		kind = TREND_START;
	return kind;
}

struct trend_verdict trend_judge(const struct trend *t, enum trend_reach reach)
{
	struct trend_verdict v = { .kind = TREND_NONE };

	for (int i = 0; i < TREND_PARTS; i++)
		v.parts += t->blocks[i] > 0;
	if (!v.parts)
		return v;
	v.all = sum(t->blocks, 0, TREND_PARTS - 1);
	v.start = t->blocks[0];
	if (reach == TREND_NOT_REACHED) {
		v.kind = shape_of_lost(t, &v);
		return v;
	}
	v.kind = shape(t, &v);
	if (became_larger(t)) {
		v.by_size = true;
		v.per_hour += t->then.grown / ((double)t->then.grown_ns / NS_PER_HOUR);
		v.kind = TREND_GROWING;
	}
	if (reach == TREND_REACHED && v.kind == TREND_GROWING)
		v.kind = TREND_CACHE;
	return v;
}

bool trend_grows(enum trend_kind kind)
{
	return kind == TREND_GROWING || kind == TREND_CACHE || kind == TREND_LEAKING;
}

const char *trend_name(enum trend_kind kind)
{
	static const char *const names[NR_TREND] = {
		[TREND_EARLY] = "too early to say",
		[TREND_START] = "start-up",
		[TREND_FILLED] = "plateau",
		[TREND_BOUNDED] = "bounded",
		[TREND_CHURN] = "churn",
		[TREND_SHRINKING] = "shrinking",
		[TREND_TURNOVER] = "turnover",
		[TREND_REPLACING] = "growing or replacing",
		[TREND_GROWING] = "growing",
		[TREND_CACHE] = "growing, maybe a cache",
		[TREND_LOST] = "lost",
		[TREND_LEAKING] = "leaking",
	};

	return kind < NR_TREND ? names[kind] : NULL;
}
