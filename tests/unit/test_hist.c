// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: kmod/core/hist.c */
#include "hist.h"
#include "tap.h"

static void test_buckets(void)
{
	static const struct {
		s64 value;
		u32 bucket;
	} rows[] = {
		{ INT64_MIN, 0 }, { -1, 0 }, { 0, 0 },
		{ 1, 1 }, { 2, 2 }, { 3, 2 }, { 4, 3 }, { 7, 3 }, { 8, 4 },
		{ 4095, 12 }, { 4096, 13 },
		{ 1LL << 62, 63 }, { INT64_MAX, 63 },
	};
	u32 b;
	int good = 1;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is(hist_bucket(rows[i].value), rows[i].bucket,
		   "%" PRId64 " is in bucket %u", rows[i].value, rows[i].bucket);
	for (b = 1; b < HIST_BUCKETS; b++)
		good &= hist_bucket((s64)hist_low(b)) == b &&
			hist_bucket((s64)(hist_low(b) - 1)) == b - 1;
	ok(good, "each bucket begins at its least value and not before");
	is(hist_low(0), 0, "the first bucket has no least value but 0");
}

static void test_percentiles(void)
{
	static const struct {
		const char *name;
		u64 n[5];		/* <= 0, 1, 2-3, 4-7, 8-15 */
		u32 percent;
		u64 want;
	} rows[] = {
		{ "an empty histogram has no percentiles", { 0 }, 50, 0 },
		{ "the least value is the low end of the first bucket in use",
		  { 0, 0, 0, 0, 10 }, 0, 8 },
		{ "all values lie below the high end of the last",
		  { 0, 0, 0, 0, 10 }, 100, 16 },
		{ "half of them lie below the middle of their bucket",
		  { 0, 0, 0, 0, 10 }, 50, 12 },
		{ "one value is treated like many",
		  { 0, 0, 0, 0, 1 }, 50, 12 },
		{ "a boundary of buckets belongs to the lower one",
		  { 0, 0, 5, 5, 0 }, 50, 4 },
		{ "values that are not positive count as 0",
		  { 9, 1, 0, 0, 0 }, 90, 0 },
		{ "and those above them as themselves",
		  { 9, 1, 0, 0, 0 }, 95, 1 },
		{ "empty buckets between are skipped",
		  { 0, 5, 0, 0, 5 }, 60, 9 },
		{ "no more than all can be asked for",
		  { 0, 1, 0, 0, 0 }, 200, 2 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is(hist_percentile(rows[i].n, 5, rows[i].percent), rows[i].want,
		   "%s", rows[i].name);
}

static void test_extremes(void)
{
	u64 n[HIST_BUCKETS + 1] = { 0 };
	uint64_t seed = 1;
	u64 last, p;
	int rises = 1;

	n[63] = 1;
	is(hist_percentile(n, HIST_BUCKETS, 100), 1ULL << 63,
	   "the last bucket ends where no value is");
	is(hist_percentile(n, HIST_BUCKETS, 50), 3ULL << 61,
	   "its middle does not overflow");
	n[63] = 1ULL << 60;
	n[1] = 1ULL << 60;
	is(hist_percentile(n, HIST_BUCKETS, 25), 1, "large counts do not overflow");
	ok(hist_percentile(n, HIST_BUCKETS, 75) > 1ULL << 62,
	   "on either side");
	n[64] = 5;
	is(hist_percentile(n, HIST_BUCKETS + 1, 100), 1ULL << 63,
	   "what lies behind the last bucket is ignored");

	/* four of these add up to 0 in 64 bits */
	memset(n, 0, sizeof(n));
	for (u32 b = 5; b < 9; b++)
		n[b] = 1ULL << 62;
	n[9] = 5;
	p = hist_percentile(n, HIST_BUCKETS, 100);
	ok(p >= hist_low(8) && p <= hist_low(9),
	   "counts that add up to more than can be said do no harm");

	for (int round = 0; round < 2000; round++) {
		for (u32 b = 0; b < HIST_BUCKETS; b++)
			n[b] = tap_random(&seed) >> (tap_random(&seed) % 64);
		for (u32 q = last = 0; q <= 100; q++, last = p) {
			p = hist_percentile(n, HIST_BUCKETS, q);
			/* sums that wrapped have no meaning, but an answer */
			if (round % 2 == 0)
				continue;
			rises &= p >= last;
		}
		if (round % 2 == 0)
			for (u32 b = 0; b < HIST_BUCKETS; b++)
				n[b] >>= 16;
	}
	ok(rises, "a higher percentile is never a lower value");
}

int main(void)
{
	test_buckets();
	test_percentiles();
	test_extremes();
	return tap_done();
}
