// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Verdicts about growth.  A rate is the sum of what was born in parts 1 to 14, by their
 * time: the first part has what a program takes when it begins to work, the last one what
 * is in use for a moment.  Its error is that of a compound Poisson process: the square root
 * of the sum of the squared sizes, twice.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stddef.h>

#include "report/trend.h"

#define FIRST		1		/* parts that count */
#define LAST		(TREND_PARTS - 2)
#define MIDDLE		(TREND_PARTS / 2)	/* FIRST .. 7 and 8 .. LAST */
#define FEW		8.0		/* blocks: fewer say nothing about a rate */
#define STAYS		0.9		/* of those that lived, more are left where all grows */
#define GOES		0.5
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
	if (part)
		t->squares += weight * (double)bytes * (double)bytes;
	if (watched_ns > t->watched_ns)
		t->watched_ns = watched_ns;
}

void trend_add_reclaimable(struct trend *t, __u64 watched_ns, __u64 age_ns, __u64 bytes,
			   double weight)
{
	const size_t part = part_of(watched_ns, age_ns);

	if (part >= FIRST && part <= LAST)
		t->reclaimable += weight * (double)bytes;
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

static bool stays(const struct trend *t)
{
	return t->then >= FEW && t->left >= t->then * STAYS;
}

/*
 * There are fewer old ones than new ones: did they go, or were there fewer from the
 * beginning?  Who lived at a moment meanwhile tells, where somebody looked.
 */
static bool goes(const struct trend *t, double share)
{
	if (t->then < FEW)
		return share < 0.5;
	return t->left < t->then * (share < 0.5 ? STAYS : GOES);
}

/* How births and deaths go, whatever can be reached. */
static enum trend_kind shape(const struct trend *t, struct trend_verdict *v)
{
	const double all = sum(t->blocks, 0, TREND_PARTS - 1);
	const double old = mean(t, FIRST, MIDDLE - 1), new = mean(t, MIDDLE, LAST);
	const int first = first_part(t), last = last_part(t);

	v->share = new > 0 ? old / new : 0;
	if (t->watched_ns < SHORT_NS)
		return TREND_EARLY;
	if (last <= 1)
		return TREND_START;
	if (all < FEW)
		return TREND_EARLY;
	if (last < TREND_PARTS - 5) {
		v->since_ns = age_of_part(t, last + 1);
		return TREND_FILLED;
	}
	if (sum(t->blocks, FIRST, TREND_PARTS - 1) < FEW)
		return TREND_EARLY;
	/* what lives for a part or two has been seen to end many times */
	if (first >= TREND_PARTS - 2) {
		v->since_ns = age_of_part(t, first);
		return TREND_CHURN;
	}
	/* as many parts without as with, or more, and these are the oldest */
	if ((first >= MIDDLE - 1 || mean(t, FIRST, MIDDLE / 2) < new / 10) && !stays(t)) {
		v->since_ns = age_of_part(t, hardly_any_before(t));
		return TREND_BOUNDED;
	}
	if (goes(t, v->share))
		return TREND_SHRINKING;
	/* a cache that was full before: each new one is for an old one, which nobody knows */
	return t->unknown > all / 2 && t->grown < all / 2 ? TREND_EARLY : TREND_GROWING;
}

struct trend_verdict trend_judge(const struct trend *t, enum trend_reach reach)
{
	struct trend_verdict v = { .kind = TREND_NONE };
	const double hours = (double)t->watched_ns * (LAST - FIRST + 1) / TREND_PARTS / NS_PER_HOUR;

	for (int i = 0; i < TREND_PARTS; i++)
		v.parts += t->blocks[i] > 0;
	if (!v.parts)
		return v;
	v.kind = shape(t, &v);
	if (v.kind == TREND_GROWING) {
		v.per_hour = sum(t->bytes, FIRST, LAST) / hours;
		v.error = 2 * sqrt(t->squares) / hours;
		v.reclaimable = t->reclaimable / hours;
	}
	if (reach == TREND_NOT_REACHED)
		v.kind = v.kind == TREND_GROWING ? TREND_LEAKING : TREND_LOST;
	else if (reach == TREND_REACHED && v.kind == TREND_GROWING)
		v.kind = TREND_CACHE;
	return v;
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
		[TREND_GROWING] = "growing",
		[TREND_CACHE] = "growing, maybe a cache",
		[TREND_LOST] = "lost",
		[TREND_LEAKING] = "leaking",
	};

	return kind < NR_TREND ? names[kind] : NULL;
}
