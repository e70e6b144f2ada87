/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _COUNTER_H
#define _COUNTER_H

#include <stdbool.h>
#include <linux/types.h>

/*
 * Perf counters by their names: "cache-misses", "dTLB-load-misses", "cpu-clock", "r01d1"; a name
 * may be followed by ",period=N" or ",freq=N".
 */
#define COUNTER_ERR	160

struct counter {
	__u32 type;			/* PERF_TYPE_* */
	__u64 config;
	__u64 every;			/* a period, */
	bool freq;			/* or how many a second */
};

/* 0, or -EINVAL with a sentence. */
int counter_parse(const char *text, struct counter *c, char err[COUNTER_ERR]);

/* Has this machine such a counter?  0 or a negative errno. */
int counter_try(const struct counter *c);

/* Calls @fn with each name that there is, until it returns other than 0; returns that. */
int counter_each(int (*fn)(const char *name, const struct counter *c, void *ctx), void *ctx);

#endif
