// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse and list the names of perf counters. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>

#include "base/opt.h"
#include "session/counter.h"

#define MOST_FREQ	100000

/* @every: where nobody says it: few samples, but not in step with anything. */
static const struct {
	const char *name;
	__u32 type;
	__u64 config, every;
} names[] = {
#define HW(name, config, every)	{ name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, every }
#define SW(name, config, every)	{ name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config, every }
	HW("cycles", CPU_CYCLES, 1000003), HW("cpu-cycles", CPU_CYCLES, 1000003),
	HW("instructions", INSTRUCTIONS, 1000003),
	HW("cache-references", CACHE_REFERENCES, 10007),
	HW("cache-misses", CACHE_MISSES, 1009),
	HW("branches", BRANCH_INSTRUCTIONS, 100003),
	HW("branch-instructions", BRANCH_INSTRUCTIONS, 100003),
	HW("branch-misses", BRANCH_MISSES, 10007),
	HW("bus-cycles", BUS_CYCLES, 100003),
	HW("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND, 1000003),
	HW("stalled-cycles-backend", STALLED_CYCLES_BACKEND, 1000003),
	HW("ref-cycles", REF_CPU_CYCLES, 1000003),
	SW("cpu-clock", CPU_CLOCK, 1000003), SW("task-clock", TASK_CLOCK, 1000003),
	SW("page-faults", PAGE_FAULTS, 1), SW("faults", PAGE_FAULTS, 1),
	SW("minor-faults", PAGE_FAULTS_MIN, 1), SW("major-faults", PAGE_FAULTS_MAJ, 1),
	SW("context-switches", CONTEXT_SWITCHES, 1), SW("cs", CONTEXT_SWITCHES, 1),
	SW("cpu-migrations", CPU_MIGRATIONS, 1), SW("migrations", CPU_MIGRATIONS, 1),
	SW("alignment-faults", ALIGNMENT_FAULTS, 1), SW("emulation-faults", EMULATION_FAULTS, 1),
#undef HW
#undef SW
};

static const char *const caches[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"
};

/* In the order of PERF_COUNT_HW_CACHE_OP_*, each with its two results. */
static const char *const ops[][2] = {
	{ "loads", "load-misses" }, { "stores", "store-misses" },
	{ "prefetches", "prefetch-misses" }
};

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define EVERY_CACHE	1009
#define EVERY_RAW	10007
#define CACHE_NAME	32

static bool parse_cache(const char *name, size_t len, struct counter *c)
{
	char full[CACHE_NAME];

	for (size_t i = 0; i < COUNT(caches); i++)
		for (size_t op = 0; op < COUNT(ops); op++)
			for (size_t miss = 0; miss < 2; miss++) {
				snprintf(full, sizeof(full), "%s-%s", caches[i], ops[op][miss]);
				if (strlen(full) != len || strncmp(full, name, len))
					continue;
				*c = (struct counter){ PERF_TYPE_HW_CACHE,
						       i | op << 8 | (__u64)miss << 16,
						       EVERY_CACHE, false };
				return true;
			}
	return false;
}

/* r01d1: what the processor's manual says, in hexadecimal digits */
static bool parse_raw(const char *name, size_t len, struct counter *c)
{
	char digits[17] = "";

	if (len < 2 || len > 17 || *name != 'r' ||
	    strspn(name + 1, "0123456789abcdefABCDEF") < len - 1)
		return false;
	memcpy(digits, name + 1, len - 1);
	*c = (struct counter){ PERF_TYPE_RAW, strtoull(digits, NULL, 16), EVERY_RAW, false };
	return true;
}

static bool parse_name(const char *name, size_t len, struct counter *c)
{
	for (size_t i = 0; i < COUNT(names); i++)
		if (strlen(names[i].name) == len && !strncmp(names[i].name, name, len)) {
			*c = (struct counter){ names[i].type, names[i].config, names[i].every,
					       false };
			return true;
		}
	return parse_cache(name, len, c) || parse_raw(name, len, c);
}

int counter_parse(const char *text, struct counter *c, char err[COUNTER_ERR])
{
	const size_t len = strcspn(text, ",");
	const char *rest = text + len;

	if (!parse_name(text, len, c)) {
		snprintf(err, COUNTER_ERR, "perf:%.40s: perf has no such counter; `memtap list "
			 "perf` shows what there is", text);
		return -EINVAL;
	}
	if (!*rest)
		return 0;
	rest++;
	c->freq = !strncmp(rest, "freq=", 5);
	if ((!c->freq && strncmp(rest, "period=", 7)) ||
	    !opt_u64(strchr(rest, '=') + 1, &c->every) || !c->every ||
	    c->every > (c->freq ? MOST_FREQ : 1ULL << 62)) {
		snprintf(err, COUNTER_ERR, "perf:%.40s: behind the name may stand ,period=N (after "
			 "so many) or ,freq=N (so often a second)", text);
		return -EINVAL;
	}
	return 0;
}

int counter_try(const struct counter *c)
{
	struct perf_event_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = c->type;
	attr.config = c->config;
	attr.disabled = 1;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

int counter_each(int (*fn)(const char *name, const struct counter *c, void *ctx), void *ctx)
{
	char name[CACHE_NAME];
	struct counter c;
	int ret = 0;

	for (size_t i = 0; !ret && i < COUNT(names); i++) {
		parse_name(names[i].name, strlen(names[i].name), &c);
		ret = fn(names[i].name, &c, ctx);
	}
	for (size_t i = 0; !ret && i < COUNT(caches) * COUNT(ops) * 2; i++) {
		snprintf(name, sizeof(name), "%s-%s", caches[i / (COUNT(ops) * 2)],
			 ops[i / 2 % COUNT(ops)][i % 2]);
		parse_cache(name, strlen(name), &c);
		ret = fn(name, &c, ctx);
	}
	return ret;
}
