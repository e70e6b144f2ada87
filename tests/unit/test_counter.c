// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/session/counter.c ctl/base/opt_value.c */
/* Names of perf's counters. */
#include <string.h>
#include <linux/perf_event.h>

#include "session/counter.h"
#include "tap.h"

static struct counter c;
static char err[COUNTER_ERR];

static bool is_counter(const char *text, __u32 type, __u64 config, __u64 every, bool freq)
{
	return !counter_parse(text, &c, err) && c.type == type && c.config == config &&
	       c.every == every && c.freq == freq;
}

static bool is_wrong(const char *text, const char *why)
{
	return counter_parse(text, &c, err) && strstr(err, why);
}

static int count(const char *name, const struct counter *at, void *ctx)
{
	/* what is listed can be asked for, and is the same then */
	ok(is_counter(name, at->type, at->config, at->every, at->freq), "%s", name);
	++*(int *)ctx;
	return 0;
}

int main(void)
{
	int nr = 0;

	ok(is_counter("cpu-clock", PERF_TYPE_SOFTWARE, 0, 1000003, false), "software");
	ok(is_counter("page-faults", PERF_TYPE_SOFTWARE, 2, 1, false), "each is one");
	ok(is_counter("cache-misses,period=50", PERF_TYPE_HARDWARE, 3, 50, false), "hardware");
	ok(is_counter("cycles,freq=997", PERF_TYPE_HARDWARE, 0, 997, true), "so often a second");
	ok(is_counter("dTLB-load-misses", PERF_TYPE_HW_CACHE, 0x10003, 1009, false), "caches");
	ok(is_counter("node-prefetch-misses", PERF_TYPE_HW_CACHE, 0x10206, 1009, false), "all");
	ok(is_counter("r01d1", PERF_TYPE_RAW, 0x1d1, 10007, false), "raw");
	ok(is_counter("rffffffffffffffff", PERF_TYPE_RAW, ~0ULL, 10007, false), "the greatest");
	ok(is_wrong("r1ffffffffffffffff", "no such counter"), "and one that is too great");
	ok(is_wrong("r", "no such") && is_wrong("", "no such") && is_wrong("rxyz", "no such") &&
	   is_wrong("cpu-clocks", "no such") && is_wrong("dTLB-load", "no such"), "no names");
	ok(is_wrong("cycles,period=0", ",period=N") && is_wrong("cycles,", ",period=N") &&
	   is_wrong("cycles,freq=100001", ",period=N") &&
	   is_wrong("cycles,period=1,freq=2", ",period=N") &&
	   is_wrong("cycles,period=9223372036854775808", ",period=N"), "no numbers");
	is(counter_each(count, &nr), 0, "all names");
	ok(nr > 50, "of which there are some");
	return tap_done();
}
