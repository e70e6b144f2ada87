/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_HIST_H
#define _CORE_HIST_H

#include "port.h"

#define HIST_BUCKETS	64

/*
 * Bucket of a value: 0 for v <= 0, i for 1 << (i - 1) .. (1 << i) - 1.
 */
static inline u32 hist_bucket(s64 v)
{
	return v <= 0 ? 0 : port_fls64((u64)v);
}

/* Least value of a bucket. */
static inline u64 hist_low(u32 bucket)
{
	return bucket ? 1ULL << (bucket - 1) : 0;
}

/**
 * hist_percentile() - value below which @percent % of the values lie
 * Linear within the bucket it falls into.  Return: 0 for an empty histogram.
 */
u64 hist_percentile(const u64 *buckets, u32 nr, u32 percent);

#endif
