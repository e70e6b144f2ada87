/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_SAMPLER_H
#define _CORE_SAMPLER_H

#include "port.h"

/*
 * Which allocations are kept.  By calls: each with probability 1/rate.  By bytes:
 * a Poisson process chooses bytes, one in @bytes on average, and a block is kept
 * when one of its bytes is: with probability 1 - exp(-size/bytes).  So an estimate
 * divides what was kept by that probability (Horvitz and Thompson 1952), and has
 * no bias whatever the sizes are.
 *
 * The gaps of the process are exponential, by inversion, in integers; no gap is
 * longer than 45 intervals.  What lies in a block behind the byte that had it kept
 * needs no bookkeeping: the process has no memory.
 */
struct sampler {
	u64 bytes;		/* 0: not by bytes; at most 1 << 40 */
	u32 rate;		/* 0, 1: not by calls; nor with @bytes */
};

/* Of one stream of allocations (a thread, a CPU); one user at a time. */
struct sampler_state {
	u64 random;
	u64 left;		/* bytes until the next chosen one */
};

/* Streams with different seeds are independent of each other. */
void sampler_begin(const struct sampler *s, struct sampler_state *st, u64 seed);

/* 1: keep an allocation of @size bytes.  size 0 is kept as 1 would be. */
int sampler_keeps(const struct sampler *s, struct sampler_state *st, u64 size);

/*
 * How many blocks of @size one that is kept stands for, in 2^-16: 1 divided by the probability
 * that it is, to 2^-16 of that.  At most 2^57.
 */
u64 sampler_weight(const struct sampler *s, u64 size);

/* -log2(x / 2^32), in 2^-32, to 2^-28: of x in 1 .. 2^32 - 1.  For the test. */
u64 sampler_log2(u32 x);

#endif
