// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/render/dist.c ctl/render/accounts.c ctl/base/text.c ctl/base/json.c */
/* LINK: ctl/session/symbols.c */
/* LINK: ctl/render/flame_page.c ctl/base/constants.c */
/* LINK: ctl/session/args_print.c kmod/core/names.c kmod/core/hist.c kmod/core/steps.c */
/* Distributions: of a snapshot that is made up here. */
#include <stdlib.h>
#include <string.h>

#include "render/dist.h"
#include "render/flame_data.h"
#include "tap.h"

static struct snap_event events[] = {
	{ .id = 0, .name = "kmem:mm_page_alloc", .seen = 18, .counted = 18 },
	{ .id = 1, .name = "f (return)", .unit = MEMTAP_UNIT_NS, .seen = 6, .counted = 4,
	  .lost = { [MEMTAP_LOST_TABLE] = 2 }, .part = { [MEMTAP_PART_ARGS] = 1 } },
};

static struct memtap_rec_task tasks[] = {
	{ .id = 8, .pid = 10, .tid = 10, .comm = "one" },
	{ .id = 9, .pid = 11, .tid = 11, .comm = "two" },
};

static __u64 text[2];
static struct snap_stack stacks[] = {
	{ .id = 20, .flags = MEMTAP_STACK_TEXT, .nr = 2, .ip = text },
};

static __u64 keys[4];
static const struct snap_stack keys_stack = { .id = 21, .flags = MEMTAP_STACK_KEYS, .nr = 4,
					      .ip = keys };

const struct snap_event *snap_event(const struct snap *s, __u32 id)
{
	return id < s->nr_events ? &s->events[id] : NULL;
}

const struct memtap_rec_task *snap_task(const struct snap *s, __u32 id)
{
	for (size_t i = 0; i < s->nr_tasks; i++)
		if (s->tasks[i].id == id)
			return &s->tasks[i];
	return NULL;
}

const struct snap_stack *snap_stack(const struct snap *s, __u32 id)
{
	return id == 20 ? s->stacks : id == 21 ? &keys_stack : NULL;
}

const char *args_type_name(const struct args_shown *s)
{
	return "";
}

const char flame_head[] = "", flame_library[] = "", flame_app[] = "", flame_licenses[] = "";

static __u64 hist[MEMTAP_HIST_BUCKETS];
static bool as_page;

static const char *printed(struct snap_counter *counters, size_t nr, const struct dist_opts *o)
{
	static char buf[4096];
	struct snap s = { .events = events, .nr_events = 2, .tasks = tasks, .nr_tasks = 2,
			  .stacks = stacks, .counters = counters,
			  .nr_counters = nr };
	FILE *f;

	memset(buf, 0, sizeof(buf));
	f = fmemopen(buf, sizeof(buf) - 1, "w");
	if (!f || (as_page ? dist_flame(&s, o, "<b>", "memtap count", f) :
			     dist_print(&s, o, f)))
		abort();
	fclose(f);
	return buf;
}

static const char *without_blanks(const char *text)
{
	static char buf[8192];
	char *to = buf;

	for (; *text && to < buf + sizeof(buf) - 1; text++)
		if (*text != ' ' && *text != '\n')
			*to++ = *text;
	*to = '\0';
	return buf;
}

#define has(text, part, name)	ok(strstr(text, part) != NULL, name)

/* A row for each pair of two values, of which the second one may not be known. */
static void test_keys(void)
{
	static struct args args = {
		.steps = { .by_mask = 5, .text = 1 },
		.shown = { { .name = "comm", .show = ARGS_TEXT, .type = MEMTAP_TYPE_TEXT }, { "" },
			   { .name = "n / 2", .show = ARGS_NUMBER, .type = 8 } },
		.by = { 2, 0 }, .nr_by = 2, .by_name = "n / 2, comm",
	};
	struct dist_event de[MEMTAP_MAX_EVENTS] = {
		{ .by = args.by_name, .args = &args }
	};
	struct snap_counter counters[] = { { .event = 0, .addr = 21, .count = 5 } };
	struct dist_opts o = { .group = BY_NONE, .events = de };

	keys[0] = 5;
	memcpy(&keys[1], "\x08" "a worker", 9);
	keys[3] = 77;
	has(printed(counters, 1, &o), "kmem:mm_page_alloc by n / 2, comm\n"
	    "         COUNT  SHARE   CUM.  n / 2, comm\n"
	    "             5 100.0% 100.0%  77, \"a worker\"\n", "several keys");
	o.json = true;
	has(printed(counters, 1, &o),
	    "\"by\":\"n / 2, comm\",\"key\":\"77, \\\"a worker\\\"\","
	    "\"keys\":{\"n / 2\":\"77\",\"comm\":\"\\\"a worker\\\"\"},\"count\":5",
	    "as JSON each by its name");
	o.json = false;
	keys[0] = 1;
	has(printed(counters, 1, &o), "?, \"a worker\"\n", "one that is not known");
	keys[1] = 0xff;
	has(printed(counters, 1, &o), "[not recorded]\n", "nonsense is no key");
}

/* Powers of two of numbers with a sign, in their order. */
static void test_signed(void)
{
	static struct args_shown ret = { "ret", ARGS_NUMBER, 8 | MEMTAP_TYPE_SIGNED };
	struct dist_event de[MEMTAP_MAX_EVENTS] = {
		{ .shown = &ret, .value = "ret", .log2 = true }
	};
	struct snap_counter counters[] = {
		{ .event = 0, .addr = 2, .count = 5, .sum = 12, .ranged = true, .least = 2,
		  .greatest = 3 },
		{ .event = 0, .addr = (__u64)-4, .count = 6, .sum = -72, .ranged = true,
		  .least = -12, .greatest = -12 },
		{ .event = 0, .addr = 0, .count = 1, .ranged = true },
	};
	struct dist_opts o = { .hist = true, .group = BY_NONE, .events = de };
	const char *got = printed(counters, 3, &o);

	has(got, "kmem:mm_page_alloc: ret\n    12 values, average -5, p50 <= -8, p90 <= 3, "
	    "p99 <= 3, from -12 to 3\n", "numbers with a sign");
	has(got, "                      -15 -> -8 : 6          |********************"
	    "********************|\n"
	    "                         0 -> 0 : 1 ", "those below 0 come first");
	has(got, "                         2 -> 3 : 5 ", "those above 0 last");
	o.json = true;
	has(printed(counters, 3, &o), "\"low\":-15,\"high\":-8,\"count\":6,\"sum\":-72,",
	    "as JSON");
}

/* Two functions: each has a histogram, or both have one. */
static void test_joint(void)
{
	static __u64 one[MEMTAP_HIST_BUCKETS], two[MEMTAP_HIST_BUCKETS];
	struct dist_event de[MEMTAP_MAX_EVENTS] = { { .value = "latency" },
						     { .value = "latency" } };
	struct snap_counter counters[] = {
		{ .event = 1, .task = 8, .count = 3, .sum = 30, .max = 20, .hist = one },
		{ .event = 0, .task = 9, .count = 1, .sum = 6, .max = 6, .hist = two },
	};
	struct dist_opts o = { .hist = true, .group = BY_NONE, .events = de };
	const char *got;

	one[4] = 2;
	one[5] = 1;
	two[3] = 1;
	got = printed(counters, 2, &o);
	has(got, "kmem:mm_page_alloc: latency\n    1 values, average 6, ",
	    "two functions, of which one");
	has(got, "f (return): latency (ns)\n    3 values, average 10, ", "and the other");
	o.joint = true;
	got = printed(counters, 2, &o);
	ok(!strncmp(got, "all 2 events: latency", 21), "--joint: a title for both");
	has(got, "\n    4 values, average 9, ", "one histogram of all values");
	has(got, "                     4 -> 7 : 1 ", "with those of one");
	has(got, "                    8 -> 15 : 2 ", "and those of the other");
	ok(!strstr(got, "    1 values,") && !strstr(got, "    3 values,"), "and no other");
	o.group = BY_PROCESS;
	got = printed(counters, 2, &o);
	has(got, "  two [11]\n    1 values", "for each process");
	o.group = BY_NONE;
	o.json = true;
	got = printed(counters, 2, &o);
	has(got, "\"event\":null,\"count\":4,\"sum\":36,", "as JSON without an event");
}

int main(void)
{
	static const struct args_shown order = { "order", ARGS_NUMBER, 4 };
	static const struct args_shown s32 = { "ret", ARGS_NUMBER, 4 | MEMTAP_TYPE_SIGNED };
	static const struct args_shown name = { "name", ARGS_TEXT, MEMTAP_TYPE_TEXT };
	struct dist_event de[MEMTAP_MAX_EVENTS] = { { "order", &order, NULL, false },
						     { "name", &name, "latency", false } };
	struct snap_counter counters[] = {
		{ .event = 0, .task = 8, .addr = 0, .count = 5 },
		{ .event = 0, .task = 9, .addr = 0, .count = 6 },
		{ .event = 0, .task = 9, .addr = 3, .count = 7 },
		{ .event = 1, .task = 8, .addr = 20, .count = 3, .sum = 30, .max = 20,
		  .hist = hist, .ranged = true, .least = -2, .greatest = 20 },
		{ .event = 1, .task = 8, .flags = MEMTAP_KEY_UNKNOWN, .count = 1, .sum = 4,
		  .max = 4, .hist = hist },
	};
	struct dist_opts o = { .group = BY_NONE, .events = de };
	const char *got;

	strcpy((char *)text, "a \"name\"");
	hist[4] = 2;
	hist[5] = 1;
	got = printed(counters, 5, &o);
	has(got, "kmem:mm_page_alloc by order\n         COUNT  SHARE   CUM.  order\n"
	    "            11  61.1%  61.1%  0\n             7  38.9% 100.0%  3\n",
	    "a table of values, over all processes, the most frequent first");
	has(got, "latency           MEAN          LEAST       GREATEST  name\n"
	    "             3  75.0%  75.0%               30             10             -2"
	    "             20  \"a \\\"name\\\"\"\n",
	    "a string, and the sum of another argument");
	has(got, "             1  25.0% 100.0%                4              4              -"
	    "              -  ?\n", "what was not there");
	has(got, "f (return): lost: 2 table-full\n", "what is lost stands below");
	has(got, "f (return): 1 events with an argument that was not in memory\n",
	    "as what was not there does");
	ok(!strstr(got, "left out"), "nothing of memtap's own: no word");
	events[0].seen += 1;
	events[0].filtered = events[0].own = 1;
	o.final = true;
	has(printed(counters, 3, &o), "\n1 event of memtap's own is left out: --self counts it\n",
	    "what memtap did itself");
	o.quiet = true;
	ok(!strstr(printed(counters, 3, &o), "left out"), "which -q does without");
	o.final = o.quiet = false;
	ok(!strstr(printed(counters, 3, &o), "left out"), "and an interval");
	o.group = BY_PROCESS;
	o.top = 2;
	got = printed(counters, 3, &o);
	has(got, "             7  38.9%  38.9%  two [11]  3\n"
	    "             6  33.3%  72.2%  two [11]  0\n",
	    "one row for each process");
	has(got, "             1  more values; --top shows N\n", "what --top leaves out is told");
	o.group = BY_NONE;
	o.hist = true;
	got = printed(counters + 3, 1, &o);
	has(got, "f (return): latency (ns) by name\n  name=\"a \\\"name\\\"\"\n"
	    "    3 values, average 10, ",
	    "a histogram for each value of another argument");
	has(got, ", p99 ~20, largest 20\n", "no percentile is more than the largest value");
	has(got, "                    8 -> 15 : 2          "
	    "|****************************************|\n",
	    "in powers of two");
	memset(hist, 0, sizeof(hist));
	hist[0] = hist[2] = 1;
	counters[3].count = 2;
	counters[3].sum = 1;
	counters[3].max = 3;
	got = printed(counters + 3, 1, &o);
	has(got, "    2 values, average 0.5, p50 <= 0, p90 ~3, p99 ~3, largest 3\n",
	    "of -2 and 3 the average is no whole number");
	counters[3].sum = -1;
	counters[3].max = 0;
	got = printed(counters + 3, 1, &o);
	has(got, "average -0.5, ", "nor one above 0 of -3 and 2");
	has(got, ", largest <= 0\n", "what is below 0 is not known to be 0");
	o.group = BY_PROCESS;
	got = printed(counters + 3, 1, &o);
	has(got, "]  name=\"a \\\"name\\\"\"\n", "of a process its values are told apart");
	o.group = BY_NONE;
	hist[0] = hist[2] = 0;
	hist[4] = 2;
	hist[5] = 1;
	counters[3].count = 3;
	counters[3].sum = 30;
	counters[3].max = 20;
	o.json = true;
	got = printed(counters + 3, 1, &o);
	has(got, "\"event\":\"f (return)\",\"by\":\"name\","
	    "\"key\":\"\\\"a \\\\\\\"name\\\\\\\"\\\"\","
	    "\"count\":3,\"sum\":30,\"max\":20,\"least\":-2,\"greatest\":20,\"p50\":",
	    "the same in JSON");
	o.json = false;
	o.linear = 10;
	de[0] = (struct dist_event){ NULL, NULL, "x", false };
	counters[0].addr = (__u64)-1;
	got = printed(counters, 3, &o);
	has(got, "kmem:mm_page_alloc: x\n    18 values, average 0, p50 <= 9, p90 <= 39, "
	    "p99 <= 39\n",
	    "in steps of one size: percentiles");
	has(got, "                    -10 -> -1 : 5 ", "steps below zero");
	has(got, "                            ... :\n                       30 -> 39 : 7 ",
	    "a gap is told");
	o.linear = 0;
	o.top = 0;
	o.hist = false;
	de[0] = (struct dist_event){ "ret", &s32, NULL, false };
	got = printed(counters, 3, &o);
	has(got, "% 100.0%  -1\n", "numbers with a sign");
	as_page = true;
	o.group = BY_PROCESS;
	got = without_blanks(printed(counters, 3, &o));
	has(got, "\"tree\":{\"n\":\"all\",\"l\":\"group\",\"v\":18,\"c\":["
	    "{\"n\":\"kmem:mm_page_alloc\",\"l\":\"group\",\"v\":18,\"c\":["
	    "{\"n\":\"one[10]\",\"l\":\"group\",\"v\":5,\"c\":[{\"n\":\"-1\",\"v\":5}]},"
	    "{\"n\":\"two[11]\",\"l\":\"group\",\"v\":13,\"c\":"
	    "[{\"n\":\"0\",\"v\":6},{\"n\":\"3\",\"v\":7}]}]}]}",
	    "as a page: each event, in it who, in that the values");
	ok(!strstr(got, "<b>"), "no name is a tag");
	o.group = BY_NONE;
	o.hist = true;
	got = without_blanks(printed(counters + 3, 1, &o));
	has(got, "{\"n\":\"8-\\u003e15\",\"v\":2},{\"n\":\"16-\\u003e31\",\"v\":1}",
	    "and steps of a histogram");
	as_page = false;
	test_keys();
	test_signed();
	test_joint();
	return tap_done();
}
