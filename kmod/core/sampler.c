// SPDX-License-Identifier: GPL-2.0-only
/* Choose which allocations a sampling session keeps. */
#include "sampler.h"

#define LOW32		0xffffffffULL
#define LN2		0xb17217f8ULL	/* in 2^-32 */

/*
 * A walk by equal steps over all 64-bit numbers, each mixed well: where it begins
 * is as good as a stream of its own (Steele, Lea and Flood 2014).
 */
static u64 next_random(struct sampler_state *st)
{
	u64 z = st->random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/*
 * Squaring a number doubles its logarithm: whether it is 2 or more then is the
 * logarithm's next binary digit.  What rounding does to a number is halved with
 * each digit that is known already.
 */
u64 sampler_log2(u32 x)
{
	u32 shift = 32 - port_fls64(x), digit;
	u64 m = (u64)x << shift;		/* 1 .. 2, in 2^-31 */
	u64 log = 0;

	for (digit = 0; digit < 32; digit++) {
		m = (m * m) >> 31;
		log <<= 1;
		if (m >> 32) {
			log |= 1;
			m >>= 1;
		}
	}
	return ((u64)(shift + 1) << 32) - log;
}

/* a * b, with a in 2^-32: neither product overflows for a < 2^39, b <= 2^40 */
static u64 scale(u64 a, u64 b)
{
	u64 low = a & LOW32;

	return (a >> 32) * b + low * (b >> 32) + (low * (b & LOW32) >> 32);
}

/*
 * Bytes up to the next chosen one, itself included.  Of 64 random bits the first
 * 32 that matter: an interval's end is as finely graded as its beginning.
 */
static u64 next_gap(const struct sampler *s, struct sampler_state *st)
{
	u64 r = next_random(st) | 1;
	u32 zeros = 64 - port_fls64(r);
	u64 log = sampler_log2((u32)((r << zeros) >> 32)) + ((u64)zeros << 32);

	return 1 + scale(scale(log, LN2), s->bytes);
}

void sampler_begin(const struct sampler *s, struct sampler_state *st, u64 seed)
{
	st->random = seed;
	st->random = next_random(st) ^ seed << 32;
	st->left = s->bytes ? next_gap(s, st) : 0;
}

/* A fraction of 64 bits, times @rate, is less than 1. */
static int one_in(u64 r, u32 rate)
{
	return !(((r >> 32) * rate + ((r & LOW32) * rate >> 32)) >> 32);
}

int sampler_keeps(const struct sampler *s, struct sampler_state *st, u64 size)
{
	if (s->bytes) {
		size += !size;
		if (likely(size < st->left)) {
			st->left -= size;
			return 0;
		}
		st->left = next_gap(s, st);
		return 1;
	}
	return s->rate <= 1 || one_in(next_random(st), s->rate);
}

/*
 * e^-x of 0 < x < 32, in 2^-32.  The series is that of a 32nd of it, where it ends soon; then it
 * is squared five times.
 */
static u64 exp_minus(u64 x)
{
	const u64 part = x >> 5;
	u64 term = 1ULL << 32, sum = term;
	u32 i;

	for (i = 1; i < 16; i++) {
		term = port_div64(scale(part, term), i);
		sum = i & 1 ? sum - term : sum + term;
	}
	if (sum > LOW32)
		sum = LOW32;
	for (i = 0; i < 5; i++)
		sum = (sum * sum) >> 32;
	return sum;
}

u64 sampler_weight(const struct sampler *s, u64 size)
{
	u64 bytes = s->bytes;

	if (!bytes)
		return (u64)(s->rate > 1 ? s->rate : 1) << 16;
	size += !size;
	/* 1 / (1 - e^-x) = 1/x + 1/2 + x/12 - ... */
	if (size < bytes >> 10)
		return port_div64(bytes << 16, size) + (1U << 15);
	if (size >= 24 * bytes)
		return 1U << 16;
	while (bytes >> 27) {
		bytes >>= 1;
		size >>= 1;
	}
	return port_div64(1ULL << 48, (1ULL << 32) - exp_minus(port_div64(size << 32, bytes)));
}
