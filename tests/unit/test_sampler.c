// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/sampler.c -lm */
/*
 * What the sampler promises, by statistics.  Seeds are fixed: a result is the same
 * on every run.  Bounds are such that one seed in some 10 000 would not hold.
 */
#include <math.h>
#include <stdlib.h>

#include "sampler.h"
#include "tap.h"

#define SIGMA		4.0
#define KS		2.2		/* of D sqrt(n): exceeded by 1 in 8 000 */

static void test_log2(void)
{
	const long double one = 4294967296.0L;
	long double worst = 0, off;
	uint64_t random = 1;
	int falls = 1;
	u32 x = 1;

	for (u32 i = 0; i < 1000000; i++) {
		switch (i % 4) {
		case 0:			/* next to a power of two */
			x = (1U << (i / 4 % 32)) + (u32)(i / 128 % 7) - 3;
			break;
		case 1:
			x = (u32)tap_random(&random);
			break;
		case 2:
			x = (u32)tap_random(&random) >> (i / 4 % 32);
			break;
		default:		/* by even steps over the last octave */
			x = ~0U - i / 4 * 8589U;
		}
		x = x ? x : 1;
		off = fabsl((long double)sampler_log2(x) + one * log2l(x / one));
		worst = off > worst ? off : worst;
		if (x + 1)
			falls &= sampler_log2(x) >= sampler_log2(x + 1);
	}
	ok(worst < 16, "the logarithm is right to 2^-28 (%.1Lf of 2^-32)", worst);
	ok(falls, "and never rises where it must not");
	is(sampler_log2(1), 32ULL << 32, "it is exact for 1");
	is(sampler_log2(1U << 31), 1ULL << 32, "and for the largest power of two");
	ok(sampler_log2(~0U) < 8, "and ends at nothing");
}

/* How far off the weight of a block is, as a part of it. */
static double weight_off(u64 bytes, u64 size)
{
	const struct sampler s = { .bytes = bytes };
	const long double right = -65536 / expm1l(-(long double)size / bytes);

	return (double)fabsl(sampler_weight(&s, size) / right - 1);
}

static void test_weights(void)
{
	static const u64 each[] = { 1, 2, 3, 1000, 4096, 524288, 1ULL << 27, 1ULL << 40 };
	const struct sampler all = { 0 }, rate = { .rate = 100 };
	double worst = 0, off;
	uint64_t random = 1;

	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++)
		for (int k = 0; k < 20000; k++) {
			off = weight_off(each[i], 1 + (tap_random(&random) & ((1ULL << 47) - 1)) /
						  (1ULL << k % 47));
			worst = off > worst ? off : worst;
		}
	/* the weight is a whole number of 2^-16, of 1 or more */
	ok(worst < 1.6e-5, "weights of blocks are right to 2^-16 (%.1e)", worst);
	is(sampler_weight(&all, 64), 65536, "a block stands for itself where all are kept");
	is(sampler_weight(&rate, 64), 6553600, "and for as many as one is kept of");
	is(sampler_weight(&(struct sampler){ .bytes = 4096 }, 0),
	   sampler_weight(&(struct sampler){ .bytes = 4096 }, 1), "no bytes are one, as when kept");
}

/* The gap up to the next chosen byte: a block that large has one in it, always. */
static u64 gap_of(const struct sampler *s, struct sampler_state *st)
{
	if (!sampler_keeps(s, st, ~0ULL))
		return 0;
	return st->left;
}

static int by_size(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Of sorted gaps: Kolmogorov and Smirnov's D sqrt(n), against what whole bytes make of exp(). */
static double ks(const u64 *gap, u32 n, u64 bytes)
{
	double worst = 0, d;

	for (u32 i = 0; i < n; i++) {
		if (i + 1 < n && gap[i + 1] == gap[i])
			continue;
		d = fabs((i + 1.0) / n + expm1(-(double)gap[i] / bytes));
		worst = d > worst ? d : worst;
	}
	return worst * sqrt(n);
}

static void test_gaps(u64 bytes)
{
	const struct sampler s = { .bytes = bytes };
	enum { N = 500000 };
	u64 *gap = malloc(N * sizeof(*gap));
	double sum = 0, lag = 0, q = exp(-1.0 / bytes), mean, sd;
	struct sampler_state st;
	u64 most = 0, least = ~0ULL;
	u32 twice = 0;

	sampler_begin(&s, &st, bytes);
	mean = -1 / expm1(-1.0 / bytes);	/* of a geometric distribution */
	sd = sqrt(q) * mean;
	for (u32 i = 0; i < N; i++) {
		gap[i] = gap_of(&s, &st);
		sum += gap[i];
		lag += i ? (gap[i] - mean) * (gap[i - 1] - mean) : 0;
		most = gap[i] > most ? gap[i] : most;
		least = gap[i] < least ? gap[i] : least;
	}
	ok(fabs(sum / N - mean) < SIGMA * sd / sqrt(N), "1 in %llu: gaps have that mean",
	   (unsigned long long)bytes);
	ok(fabs(lag / N) < SIGMA * sd * sd / sqrt(N), "one does not tell about the next");
	qsort(gap, N, sizeof(*gap), by_size);
	ok(ks(gap, N, bytes) < KS, "they are exponential");
	if (bytes == 1ULL << 40) {
		for (u32 i = 1; i < N; i++)
			twice += gap[i] == gap[i - 1];
		ok(twice < 100, "and finely graded (%u twice)", twice);
	}
	ok(least >= 1 && most <= 45 * bytes + 1, "from 1 byte to 45 intervals");
	free(gap);
}

/* Of blocks of these sizes in turn: how far off the estimate is, in sigma. */
static double estimate(const struct sampler *s, u64 seed, const u64 *size, u32 nr,
		       u32 blocks)
{
	double kept = 0, all = 0, variance = 0, p;
	struct sampler_state st;
	uint64_t random = ~seed;

	sampler_begin(s, &st, seed);
	for (u32 i = 0; i < blocks; i++) {
		u64 n = size[nr > 1 ? tap_random(&random) % nr : 0];

		p = s->bytes ? -expm1(-(double)n / s->bytes) : 1.0 / s->rate;
		all += n;
		variance += (1 - p) / p * n * n;
		if (sampler_keeps(s, &st, n))
			kept += n / p;
	}
	return (kept - all) / sqrt(variance);
}

/* Many streams: errors that have the mean 0, and the variance that theory has. */
static void test_estimate(const struct sampler *s, const u64 *size, u32 nr, const char *what)
{
	enum { STREAMS = 500, BLOCKS = 4000 };
	double sum = 0, squares = 0, z;

	for (u32 i = 0; i < STREAMS; i++) {
		z = estimate(s, i, size, nr, BLOCKS);
		sum += z;
		squares += z * z;
	}
	ok(fabs(sum / sqrt(STREAMS)) < SIGMA, "%s: no bias (%.2f sigma)", what,
	   sum / sqrt(STREAMS));
	ok(fabs(squares / STREAMS - 1) < 0.35, "errors as theory has them (%.2f)",
	   squares / STREAMS);
}

static void test_estimates(void)
{
	static const struct { u64 size; const char *what; } one[] = {
		{ 40, "blocks of 1/100 interval" }, { 400, "of 1/10" },
		{ 1024, "of 1/4" }, { 4096, "of 1" }, { 12288, "of 3" },
	};
	static const u64 mix[] = { 1, 8, 16, 24, 24, 32, 100, 1000, 4096, 10000, 100000,
				   409600 };
	static const u64 small[] = { 16, 24, 32, 32, 48, 64 };
	const struct sampler s = { .bytes = 4096 }, tiny = { .bytes = 2 };
	const struct sampler rate = { .rate = 7 };

	for (u32 i = 0; i < sizeof(one) / sizeof(one[0]); i++)
		test_estimate(&s, &one[i].size, 1, one[i].what);
	test_estimate(&s, mix, 12, "of 1 byte to 100 intervals");
	test_estimate(&s, small, 6, "small ones");
	test_estimate(&tiny, (u64[]){ 1, 2, 3, 4, 5, 6 }, 6, "an interval of 2 bytes");
	test_estimate(&rate, mix, 12, "one call in 7");
}

/* A block's chance does not depend on what was kept before it. */
static void test_memory(void)
{
	const struct sampler s = { .bytes = 1000 };
	const double p = -expm1(-0.3);
	double after[2] = { 0 }, kept[2] = { 0 };
	struct sampler_state st;
	int before = 0, now;

	sampler_begin(&s, &st, 11);
	for (u32 i = 0; i < 2000000; i++) {
		now = sampler_keeps(&s, &st, 300);
		after[before]++;
		kept[before] += now;
		before = now;
	}
	for (u32 i = 0; i < 2; i++)
		ok(fabs(kept[i] - after[i] * p) < SIGMA * sqrt(after[i] * p * (1 - p)),
		   "after one that was %s, the next one's chance is the same",
		   i ? "kept" : "not");
}

static void test_certain(void)
{
	const struct sampler s = { .bytes = 1ULL << 40 }, all = { 0 }, one = { .rate = 1 };
	const struct sampler few = { .bytes = 64 }, rare = { .rate = ~0U };
	struct sampler_state st, twin;
	u32 kept = 0, same = 0;

	sampler_begin(&s, &st, 1);
	for (u32 i = 0; i < 1000; i++)
		kept += sampler_keeps(&s, &st, ~0ULL) && sampler_keeps(&s, &st, 45ULL << 40);
	is(kept, 1000, "a block of more than 44 intervals is kept always");
	sampler_begin(&all, &st, 1);
	for (u32 i = 0; i < 1000; i++)
		kept += sampler_keeps(&all, &st, i) && sampler_keeps(&one, &st, i);
	is(kept, 2000, "all are, when nothing is said, or one in one");
	sampler_begin(&few, &st, 2);
	sampler_begin(&few, &twin, 2);
	for (u32 i = 0; i < 10000; i++)
		same += sampler_keeps(&few, &st, 0) == sampler_keeps(&few, &twin, 1);
	is(same, 10000, "size 0 has the chance of size 1; one seed makes one stream");
	sampler_begin(&rare, &st, 3);
	for (u32 i = kept = 0; i < 1000000; i++)
		kept += sampler_keeps(&rare, &st, 100);
	is(kept, 0, "of one in 4 294 967 295 there is none in a million");
}

static void test_rate(u32 rate, u32 n)
{
	const struct sampler s = { .rate = rate };
	double p = 1.0 / rate, kept = 0, pairs = 0;
	struct sampler_state st;
	int before = 0, now;

	sampler_begin(&s, &st, rate);
	for (u32 i = 0; i < n; i++) {
		now = sampler_keeps(&s, &st, 8);
		kept += now;
		pairs += now && before;
		before = now;
	}
	ok(fabs(kept - n * p) < SIGMA * sqrt(n * p * (1 - p)), "one call in %u", rate);
	ok(fabs(pairs - n * p * p) < SIGMA * sqrt(n * p * p) + 1, "each by chance");
}

/* The first and the fourth gap of many streams whose seeds are much alike. */
static void test_seeds(const char *what, u32 shift)
{
	enum { N = 200000 };
	const struct sampler s = { .bytes = 1 << 20 };
	u64 *first = malloc(N * sizeof(u64)), *later = malloc(N * sizeof(u64));
	double next = 0, within = 0, mean = s.bytes, var = mean * mean;
	struct sampler_state st;

	for (u64 i = 0; i < N; i++) {
		sampler_begin(&s, &st, i << shift);
		first[i] = st.left;
		gap_of(&s, &st);
		gap_of(&s, &st);
		later[i] = gap_of(&s, &st);
		within += (first[i] - mean) * (later[i] - mean);
		if (i)
			next += (first[i] - mean) * (first[i - 1] - mean) +
				(later[i] - mean) * (first[i - 1] - mean);
	}
	ok(fabs(next / N) < SIGMA * var * sqrt(2.0 / N), "%s: streams are independent", what);
	ok(fabs(within / N) < SIGMA * var / sqrt(N), "so is each within itself");
	qsort(first, N, sizeof(u64), by_size);
	qsort(later, N, sizeof(u64), by_size);
	ok(ks(first, N, s.bytes) < KS, "their first gaps are exponential");
	ok(ks(later, N, s.bytes) < KS, "so are later ones");
	free(first);
	free(later);
}

/* Two streams side by side keep the same block as often as chance will have it. */
static void test_side_by_side(u64 a, u64 b)
{
	const struct sampler s = { .bytes = 256 };
	double p = -expm1(-64.0 / 256), both = 0;
	struct sampler_state x, y;
	enum { N = 1000000 };

	sampler_begin(&s, &x, a);
	sampler_begin(&s, &y, b);
	for (u32 i = 0; i < N; i++)
		both += sampler_keeps(&s, &x, 64) & sampler_keeps(&s, &y, 64);
	ok(fabs(both - N * p * p) < SIGMA * sqrt(N * p * p * (1 - p * p)),
	   "seeds %#llx and %#llx have nothing in common", (unsigned long long)a,
	   (unsigned long long)b);
}

/* Seeds one step of the generator apart: not one stream, and the same a bit later. */
static void test_no_echo(void)
{
	const struct sampler s = { .bytes = 1ULL << 40 };
	const u64 step = 0x9e3779b97f4a7c15ULL;
	struct sampler_state x, y;
	u32 same = 0;

	for (u64 seed = 0; seed < 1000; seed++) {
		sampler_begin(&s, &x, seed);
		sampler_begin(&s, &y, seed + step);
		for (u32 i = 0; i < 5; i++)
			same += gap_of(&s, &x) == y.left || x.left == gap_of(&s, &y);
	}
	is(same, 0, "no stream is another one's echo");
}

int main(void)
{
	static const u64 bytes[] = { 1, 2, 7, 100, 4096, 524288, 1 << 30, 1ULL << 40 };
	static const u32 rates[] = { 2, 3, 10, 100, 1000 };

	test_log2();
	test_weights();
	for (u32 i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		test_gaps(bytes[i]);
	test_estimates();
	test_memory();
	test_certain();
	for (u32 i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		test_rate(rates[i], 2000000);
	test_seeds("seeds that count up", 0);
	test_seeds("seeds that differ in high bits", 40);
	test_side_by_side(0, 1);
	test_side_by_side(1, 1ULL << 32);
	test_no_echo();
	return tap_done();
}
