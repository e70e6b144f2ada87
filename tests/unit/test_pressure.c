// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/machine/container.c ctl/base/json_read.c */
/* LINK: ctl/base/constants.c */
/* LINK: ctl/render/flame_data.c */
/* LINK: ctl/render/flame_page.c */
/* LINK: ctl/render/lines.c ctl/render/matrix.c ctl/render/dist.c ctl/render/accounts.c */
/* LINK: ctl/base/text.c ctl/base/json.c ctl/session/symbols.c ctl/session/args_print.c */
/* LINK: ctl/machine/zones.c ctl/machine/text.c kmod/core/steps.c kmod/core/names.c */
/* LINK: kmod/core/hist.c */
/* Single events in columns, and several events beside each other, of events made up here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "render/matrix.h"
#include "render/lines.h"
#include "session/symbols.h"
#include "session/tracefs.h"
#include "target/maps.h"
#include "tap.h"

static struct memtap_rec_task tasks[] = {
	{ .id = 8, .pid = 10, .tid = 10, .cgroup1 = 77, .cgroup2 = 1, .comm = "one" },
	{ .id = 9, .pid = 44, .tid = 44, .flags = MEMTAP_TASK_KTHREAD | MEMTAP_TASK_EXITED,
	  .comm = "kswapd0" },
};
static struct snap_event events[] = {
	{ .id = 0, .name = "b..e", .unit = MEMTAP_UNIT_NS, .seen = 5, .counted = 4,
	  .lost = { [MEMTAP_LOST_RETURN] = 1 } },
	{ .id = 1, .name = "scan", .seen = 12, .counted = 9, .filtered = 3, .own = 2 },
	{ .id = 2, .name = "steal", .seen = 9, .counted = 9 },
};
static struct snap snap = { .tasks = tasks, .nr_tasks = 2, .events = events, .nr_events = 3 };

const struct memtap_rec_task *snap_task(const struct snap *s, __u32 id)
{
	return id == 8 || id == 9 ? &s->tasks[id - 8] : NULL;
}

const struct snap_event *snap_builtin(const struct snap *s, const char *name)
{
	(void)s;
	(void)name;
	return NULL;
}

const struct snap_event *snap_event(const struct snap *s, __u32 id)
{
	return id < s->nr_events ? &s->events[id] : NULL;
}

const struct snap_stack *snap_stack(const struct snap *s, __u32 id)
{
	(void)s;
	(void)id;
	return NULL;
}

const char *sym_cgroup(struct sym *s, const struct snap *snap_of, __u64 inode)
{
	(void)s;
	(void)snap_of;
	return inode == 77 ? "/limited" : NULL;
}

size_t sym_kernel(struct sym *s, const struct snap *snap_of, __u64 ip, bool call,
		  const struct sym_frame **frames)
{
	static const struct sym_frame f = { .name = "super_cache_scan", .kernel = true };

	(void)s;
	(void)snap_of;
	(void)call;
	*frames = &f;
	return ip == 0x1000;
}

bool tracefs_symbols(const char *event, const char *field, struct symbols *s)
{
	/* what another event calls the same values */
	if (!strcmp(event, "alike"))
		return symbols_parse("print fmt: __print_symbolic(REC->pages, {0x20, \"many\"})",
				     field, s);
	return !strcmp(event, "b") && symbols_parse("print fmt: __print_flags(REC->gfp, \"|\", "
						    "{1, \"A\"}, {2, \"B\"})", field, s);
}

int maps_slurp(int dir, const char *path, char **text, size_t *len)
{
	(void)dir;
	*text = strdup("Node 0, zone   Normal\n  pages free     5\n        spanned  100\n"
		       "  start_pfn:           4096\n");
	*len = strlen(*text);
	return strcmp(path, "/proc/zoneinfo") ? -ENOENT : 0;
}

static struct args args = {
	.steps = { .nr_shown = 4 },
	.shown = { { "gfp", ARGS_NUMBER, 8 }, { "latency", ARGS_NUMBER, 8 },
		   { "pages", ARGS_NUMBER, 8 }, { "zone_start", ARGS_NUMBER, 8 } },
};
static const struct plan_pick picks[] = {
	{ .what = "w", .label = "wait" }, { .what = "s", .label = "scan" },
	{ .what = "t", .label = "steal" },
};
static struct plan_item items[] = {
	{ .attach = { .way = 1, .event = 0, .name = "b..e" }, .args = &args, .pick = &picks[0] },
	{ .attach = { .way = 1, .event = 1, .name = "scan" }, .pick = &picks[1] },
	{ .attach = { .way = 1, .event = 2, .name = "steal" }, .pick = &picks[2] },
};
static struct plan plan = { .nr = 3, .items = items };

static const struct lines_column columns[] = {
	{ "TYPE", "type", -6, LINES_LABEL, NULL },
	{ "LAT(ms)", "latency_ns", 8, LINES_MS, "latency" },
	{ "PAGES", "pages", 6, LINES_NUMBER, "pages" },
	{ "NODE", "node", 4, LINES_NODE, "zone_start" },
	{ "ZONE", "zone", -7, LINES_ZONE, "zone_start" },
	{ "NONE", "none", 5, LINES_NUMBER, "nosuch" },
	{ "GFP", "gfp", -8, LINES_SYMBOLS, "gfp" },
	{ "LIKE", "like", -4, LINES_SYMBOLS, "pages", "alike" },
	{ "RAW", "raw", -4, LINES_SYMBOLS, "pages", "nosuch" },
	{ "CGROUP", "cgroup", -1, LINES_CGROUP, NULL },
	{ .title = NULL },
};
static const struct lines_ask ask = { columns, "pages", "PAGES", "wait" };

static char text[8192];

static void has(const char *what, const char *name)
{
	if (!ok(strstr(text, what) != NULL, "%s", name))
		fprintf(stderr, "%s\nhas no: %s", text, what);
}

/* Two events of one task, and one whose task is not known. */
static void print_lines(bool json, __u32 top)
{
	const struct lines_opts o = { .start_ns = 1000000000, .json = json, .top = top };
	struct {
		struct memtap_one one;
		__u64 values[4];
	} e = { .one = { .len = sizeof(e), .ns = 3500000000, .pid = 10, .tid = 10, .cpu = 1,
			 .known = 0xf, .task = 8, .comm = "one" },
		.values = { 3, 2500000, 32, 4100 } };
	struct lines *l = lines_new(&ask, &o, &plan);
	FILE *f = fmemopen(text, sizeof(text), "w");

	lines_header(l, f);
	lines_put(l, &e.one, &snap, NULL, f);
	e.values[0] = 4;
	e.values[1] = 500000;
	e.values[3] = 9;
	lines_put(l, &e.one, &snap, NULL, f);
	e.one.task = 99;
	e.one.pid = 12;
	memcpy(e.one.comm, "a\033b", 4);
	e.one.known = 0;
	e.one.len = sizeof(e.one);
	lines_put(l, &e.one, &snap, NULL, f);
	e.one.event = 31;
	lines_put(l, &e.one, &snap, NULL, f);
	lines_sums(l, &snap, NULL, f);
	fclose(f);
	lines_free(l);
}

static void test_lines(void)
{
	print_lines(false, 0);
	has("TIME          COMM                PID TYPE    LAT(ms)  PAGES NODE ZONE     NONE "
	    "GFP      LIKE RAW  CGROUP\n", "the header");
	has("     2.500000 one                  10 wait      2.500     32    0 Normal      - "
	    "A|B      many 0x20 /limited\n", "a line: times, flags, the zone of a page frame, what "
	    "another event has a name for, a number, a cgroup");
	has("     2.500000 one                  10 wait      0.500     32    - -           - "
	    "0x4      many 0x20 /limited\n", "what is in no zone, and a flag without a name");
	has("a?b                  12 wait          -      -    - -           - -        -    "
	    "-    -\n",
	    "what is not known, and a name that would hurt a terminal");
	has("           2        3.000      2.500           64  one [10]\n", "a process' sum");
	has("           2        3.000      2.500           64  /limited\n", "and of a cgroup");
	ok(strstr(text, "one [10]") < strstr(text, "a?b [12]"), "the longest first");
	print_lines(false, 1);
	has("           1 more; --top shows N\n", "--top cuts sums");
	print_lines(true, 0);
	has("{\"schema\":2,\"document\":\"wait\","
	    "\"ns\":2500000000,\"comm\":\"one\",\"pid\":10,\"tid\":10,\"cpu\":1,"
	    "\"type\":\"wait\",\"latency_ns\":2500000,\"pages\":32,\"node\":0,"
	    "\"zone\":\"Normal\",\"none\":null,\"gfp\":\"A|B\",\"like\":\"many\","
	    "\"raw\":\"0x20\",\"cgroup\":\"/limited\"}\n",
	    "JSON: a line");
	has("{\"schema\":2,\"document\":\"waited\","
	    "\"by\":\"process\",\"comm\":\"one\",\"pid\":10,\"count\":2,\"ns\":3000000,"
	    "\"max_ns\":2500000,\"pages\":64}\n", "JSON: a sum");
}

static const struct matrix_column wide[] = {
	{ "MS", "ns", 8, BESIDE_MS, "wait", NULL, BESIDE_ALL },
	{ "AVG", "avg", 8, BESIDE_AVG_MS, "wait", NULL, BESIDE_ALL },
	{ "K", "k", 6, BESIDE_SUM, "scan", NULL, BESIDE_KSWAPD },
	{ "D", "d", 6, BESIDE_SUM, "scan", NULL, BESIDE_OTHERS },
	{ "EFF%", "eff", 5, BESIDE_PERCENT, "steal", "scan", BESIDE_ALL },
	{ "GONE", "gone", 5, BESIDE_COUNT, "nosuch", NULL, BESIDE_ALL },
	{ .title = NULL },
};
static const struct matrix_ask wide_ask = {
	.columns = wide, .order = "wait", .keyed = "wait", .yield = "steal",
	.keyed_title = "SHRINKER", .pending = "wait", .pending_text = "WAITS NOW",
	.document = "wide",
};

static void print_columns(enum report_by by, bool json, bool final)
{
	struct snap_counter counters[] = {
		{ .event = 0, .task = 8, .addr = 0x1000, .count = 4, .sum = 6000000,
		  .max = 3000000 },
		{ .event = 1, .task = 8, .count = 1, .sum = 100, .max = 100 },
		{ .event = 1, .task = 9, .count = 8, .sum = 300, .max = 50 },
		{ .event = 2, .task = 9, .addr = 0x1000, .count = 8, .sum = 200, .max = 50 },
	};
	struct memtap_rec_pending pendings[] = {
		{ .event = 0, .task = 9, .since_ns = 7 },
		{ .event = 0, .task = 8, .since_ns = 600000000 },
		{ .event = 1, .task = 8, .since_ns = 999999000 },
	};
	const struct matrix_opts o = { .by = by, .json = json, .final = final, .header = true,
					.seconds = 2, .plan = &plan };
	FILE *f = fmemopen(text, sizeof(text), "w");

	snap.header.now_ns = 1000000000;
	snap.pendings = pendings;
	snap.nr_pendings = 3;
	snap.counters = counters;
	snap.nr_counters = 4;
	is(matrix_print(&wide_ask, &o, &snap, NULL, f), 0, "columns");
	fclose(f);
}

static void test_columns(void)
{
	print_columns(BY_NONE, false, false);
	has("       MS      AVG      K      D  EFF%  GONE\n", "a header");
	has("    6.000    1.500    300    100  50.0     -\n",
	    "one row: kswapd's and the others' apart, what is not known");
	has("     FOR(ms)  WAITS NOW\n     400.000  one [10]\n", "who waits, but who died inside");
	ok(!strstr(text, "0.001"), "and of other events nobody");
	print_columns(BY_PROCESS, false, false);
	has("    6.000    1.500      0    100   0.0     -  one [10]\n", "a row for each process");
	has("    0.000        -    300      0  66.7     -  kswapd0 [44]\n", "and the other");
	ok(strstr(text, "one [10]") < strstr(text, "kswapd0 [44]"), "who waits most is first");
	print_columns(BY_CGROUP, false, false);
	has("  /limited\n", "or for each cgroup");
	print_columns(BY_NONE, false, true);
	has("           4        6.000      3.000          200  super_cache_scan\n",
	    "at the end functions, with what they cost and freed");
	has("b..e: lost: 1 no-return\n", "and what was lost");
	has("\n2 events of memtap's own are left out: --self counts them\n",
	    "and what memtap did itself");
	print_columns(BY_NONE, false, false);
	ok(!strstr(text, "left out"), "which is not said of each interval");
	print_columns(BY_NONE, true, true);
	ok(!strstr(text, "left out"), "nor within JSON");
	print_columns(BY_PROCESS, true, true);
	has("{\"schema\":2,\"document\":\"wide\","
	    "\"seconds\":2.000,\"final\":true,\"key\":\"one [10]\",\"comm\":\"one\",\"pid\":10,"
	    "\"ns\":6000000,\"avg\":1500000,\"k\":0,\"d\":100,\"eff\":0.000,\"gone\":null}\n",
	    "JSON: a row");
	has("{\"schema\":2,\"document\":\"shrinker\","
	    "\"function\":\"super_cache_scan\",\"count\":4,\"ns\":6000000,\"max_ns\":3000000,"
	    "\"freed\":200}\n", "JSON: a function");
}

int main(void)
{
	test_lines();
	test_columns();
	return tap_done();
}
