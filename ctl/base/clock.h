/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _BASE_CLOCK_H
#define _BASE_CLOCK_H

#include <time.h>
#include <linux/types.h>

static inline __u64 clock_ns_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (__u64)ts.tv_sec * 1000000000ULL + (__u64)ts.tv_nsec;
}

/* CLOCK_MONOTONIC, as the module's times are */
static inline __u64 clock_ns(void)
{
	return clock_ns_of(CLOCK_MONOTONIC);
}

#endif
