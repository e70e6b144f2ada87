// SPDX-License-Identifier: GPL-2.0-only
/* Compute percentiles of a log2 histogram. */
#include "hist.h"

/* Distance of the @part-th of @count values from the low end of its bucket. */
static u64 into_bucket(u32 bucket, u64 part, u64 count)
{
	u32 width = bucket - 1;		/* log2 */
	u64 fraction;

	while (count >> 32) {
		count >>= 1;
		part >>= 1;
	}
	fraction = port_div64(part << 32, count);
	return width > 32 ? fraction << (width - 32) : fraction >> (32 - width);
}

/* Counts may come from a file: wrong ones give wrong answers, not a crash. */
static u64 add_up(u64 a, u64 b)
{
	return a + b < a ? ~0ULL : a + b;
}

u64 hist_percentile(const u64 *buckets, u32 nr, u32 percent)
{
	u64 total = 0, below = 0, rank, n = 0;
	u32 i, scale = 100;

	if (nr > HIST_BUCKETS)
		nr = HIST_BUCKETS;
	if (percent > 100)
		percent = 100;
	for (i = 0; i < nr; i++)
		total = add_up(total, buckets[i]);
	if (!total)
		return 0;

	/* In hundredths of a value, but for counts that leave no room. */
	if (total >> 57) {
		scale = 1;
		rank = port_div64(total, 100);
		rank = rank * percent +
		       port_div64((total - rank * 100) * percent, 100);
	} else {
		rank = total * percent;
	}
	for (i = 0; i < nr; i++) {
		n = buckets[i];
		if (n && add_up(below, n) * scale >= rank)
			break;
		below = add_up(below, n);
	}
	if (!i || i == nr)
		return 0;
	return hist_low(i) + into_bucket(i, rank - below * scale, n * scale);
}
