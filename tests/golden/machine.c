// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/machine/container.c */
/* LINK: ctl/base/ids.c ctl/machine/caches.c */
/* LINK: ctl/machine/host_text.c ctl/doctor/found.c */
/* LINK: ctl/machine/account.c ctl/machine/cgroup.c ctl/machine/fields.c */
/* LINK: ctl/machine/kernel.c ctl/machine/log.c ctl/machine/machine.c */
/* LINK: ctl/machine/process.c ctl/machine/pinned.c ctl/machine/pss.c ctl/machine/smaps.c */
/* LINK: ctl/machine/shared.c ctl/machine/text.c */
/* LINK: ctl/machine/zones.c ctl/machine/rows.c ctl/history/code.c */
/* LINK: ctl/machine/owners.c ctl/render/ps.c ctl/render/ps_machine.c ctl/render/ps_sums.c */
/* LINK: ctl/base/opt_table.c */
/* LINK: ctl/triage/advice.c ctl/triage/grow.c ctl/triage/holds.c ctl/triage/kernel.c */
/* LINK: ctl/triage/kernel_most.c */
/* LINK: ctl/triage/diagnose_answer.c ctl/triage/diagnose_judge.c ctl/triage/diagnose_plan.c */
/* LINK: ctl/base/json_read.c ctl/machine/room.c ctl/render/diagnose.c */
/* LINK: ctl/triage/kills.c */
/* LINK: ctl/triage/look.c ctl/triage/rates.c ctl/triage/pressure.c */
/* LINK: ctl/history/recorded.c ctl/render/triage_recorded.c */
/* LINK: ctl/render/census.c ctl/render/triage.c ctl/render/triage_json.c */
/* LINK: ctl/render/metrics.c ctl/render/metrics_text.c ctl/render/metrics_holders.c */
/* LINK: ctl/render/metrics_sessions.c ctl/render/triage_page.c ctl/base/json.c ctl/base/text.c */
/* LINK: ctl/machine/host.c ctl/machine/host_build.c ctl/machine/host_kernel.c */
/* LINK: ctl/doctor/doctor.c ctl/doctor/kernel.c ctl/doctor/module.c ctl/render/doctor.c */
/* LINK: ctl/base/err.c ctl/top/canvas.c ctl/top/keys.c ctl/top/page.c ctl/top/rows.c */
/* LINK: ctl/top/batch.c ctl/base/opt_value.c -lz */
/*
 * machine BEFORE AFTER [census|json|color|line|seconds=N]...: what is said of a machine whose
 * /proc and /sys were so, and N seconds (2) later so.  machine advice: the table's commands.
 * machine BEFORE AFTER metrics|openmetrics: the machine that AFTER is, as metrics; the second
 * with invented sessions.
 * machine BEFORE AFTER doctor: can memtap run on the machine that AFTER is.
 * machine BEFORE AFTER top=COLSxROWS [keys=KEYS]: the screen of `memtap top` after these keys:
 * + - arrows, ^ Enter, which brings some stacks.  machine BEFORE AFTER batch [json].
 * machine BEFORE AFTER ps=WHAT [numa|json|sort=N|keep=PATTERN|top=N]...: `memtap ps` of AFTER;
 * WHAT is a number of enum report_by, or map:PID, pid:PID, user:NAME.
 * machine BEFORE AFTER diagnose [answer=NAME] [series=MIB,...] [end=N] [grew=MIB]
 * [pid=PID] [cgroup=PATH] [json]: what `memtap diagnose` asks, and concludes when the first
 * question is answered by the report NAME.txt of $GOLDEN, has ended as enum ask_end says, and so
 * many MiB were seen, of which (4) came while it was recorded.
 * past [series=MIB,...]: as a history has it, of a moment that is over, with what the samples in
 * between had.
 * late=N: there was no time for N more processes, at both moments.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/int.h"
#include "render/diagnose.h"
#include "render/doctor.h"
#include "render/metrics.h"
#include "render/ps.h"
#include "render/triage.h"
#include "top/batch.h"

/* "MOUNT USED SIZE" in the tree's own file "space" */
static int space(const struct machine_at *at, const char *path, __u64 *used, __u64 *size)
{
	char name[512], file[4096];
	unsigned long long u, s;
	int err = -ENOENT;
	FILE *f;

	snprintf(file, sizeof(file), "%s/space", at->root);
	f = fopen(file, "r");
	if (!f)
		return -ENOENT;
	while (err && fscanf(f, "%511s %llu %llu", name, &u, &s) == 3)
		if (!strcmp(name, path)) {
			*used = u;
			*size = s;
			err = 0;
		}
	fclose(f);
	return err;
}

static int read_tree(const char *root, unsigned int what, struct machine_at *at,
		     struct machine *m)
{
	int err;

	*at = (struct machine_at){
		.root = root, .page = 4096, .budget_ns = 60000000000ULL, .space = space,
	};
	err = machine_read(at, what, m);
	if (err)
		fprintf(stderr, "%s: %s\n", root, strerror(-err));
	return err;
}

static int doctor(const char *root, bool json)
{
	const struct machine_at at = { .root = root, .page = 4096 };
	const struct doctor_opts o = { .out = stdout, .json = json };
	struct doctor d;
	struct host h;

	host_read(&at, &h);
	doctor_look(&d, &h, "v0.1.0-7-g1234567");
	render_doctor(&d, &o);
	return d.problems ? 1 : 0;
}

/* Sessions of memtap: one that follows two processes, the flight recorder, and a secret one. */
static struct memtap_other other_sessions[] = {
	{ .nr = 3, .pid = 100, .comm = "memtap", .memory = 1 << 20, .seen = 1000, .counted = 900,
	  .filtered = 80, .lost = { 15, 0, 5 },
	  .flags = MEMTAP_OTHER_RUNNING | MEMTAP_OTHER_LIVE },
	{ .nr = 7, .comm = "insmod", .memory = 2 << 20, .seen = 5, .counted = 5,
	  .flags = MEMTAP_OTHER_RUNNING | MEMTAP_OTHER_RECORDER },
	{ .nr = 9, .pid = 101, .comm = "memtap", .memory = 3 << 20, .flags = MEMTAP_OTHER_HIDDEN },
};

static struct memtap_other_row live_rows[] = {
	{ .pid = 10, .blocks = 3, .bytes = 3000, .comm = "java" },
	{ .pid = 11, .blocks = 2, .bytes = 1 << 20, .comm = "java" },
	{ .pid = 12, .blocks = 1, .bytes = 16, .comm = "a \"b\"" },
};

static int metrics(const char *before, const char *now, bool open)
{
	const struct others others = {
		.loaded = true, .at = other_sessions, .nr = 3, .rows = live_rows, .nr_rows = 3,
		.following = 1, .unread = 1,
	};
	struct metrics_opts o = {
		.out = stdout, .openmetrics = open, .top = 3, .seconds = 300, .took = 0.0125,
		.version = "0.1.0",
	};
	struct machine_at at;
	struct machine was, m;
	int ret = 1, err = read_tree(before, MACHINE_SLAB, &at, &was);

	if (!read_tree(now, MACHINE_SLAB, &at, &m) && !err) {
		o.before = &was;
		o.others = open ? &others : NULL;
		ret = render_metrics(&m, &o) ? 0 : 1;
	}
	machine_free(&was);
	machine_free(&m);
	return ret;
}

static int ps(int argc, char **argv, const char *what)
{
	struct ps_opts to = { .out = stdout, .sort = PS_PSS };
	const char *colon = strchr(what, ':'), *keep = NULL;
	struct opt_nums pids = { 0 };
	struct opt_strs users = { 0 };
	struct owners_ask ask = { .by = BY_PROCESS, .pids = &pids, .users = &users };
	bool json = false;
	struct machine_at at;
	struct machine m;
	struct owners w;
	int err;

	if (!strncmp(what, "map:", 4))
		ask.map = (__u32)atoi(colon + 1);
	else if (!strncmp(what, "pid:", 4))
		pids.at[pids.nr++] = (__u32)atoi(colon + 1);
	else if (!strncmp(what, "user:", 5))
		users.at[users.nr++] = colon + 1;
	else
		ask.by = (enum report_by)atoi(what);
	for (int i = 3; i < argc; i++) {
		ask.numa |= !strcmp(argv[i], "numa");
		json |= !strcmp(argv[i], "json");
		sscanf(argv[i], "sort=%d", &to.sort);
		sscanf(argv[i], "top=%zu", &to.top);
		if (!strncmp(argv[i], "keep=", 5))
			keep = argv[i] + 5;
	}
	to.by = ask.by;
	to.map = ask.map;
	if (ask.map)
		to.sort = -1;
	if (read_tree(argv[2], MACHINE_NO_CGROUPS, &at, &m))
		return 1;
	err = owners_read(&at, &m, &ask, &w);
	if (err)
		printf("%s\n", strerror(-err));
	if (!err && keep)
		owners_keep(&w, keep);
	owners_sort(&w, to.sort);
	if (!err && json)
		render_ps_json(&w, &m, &to);
	else if (!err)
		render_ps(&w, &m, &to);
	owners_free(&w);
	machine_free(&m);
	return 0;
}

static const char stacks[] =
	" 62.5 %  20.0 MiB  5,120 pages\n"
	"    fill at server.c:31\n"
	"    handle(Request const&) at server.c:77\n"
	"    main\n"
	" 37.5 %  12.0 MiB  3,072 pages\n"
	"    memcpy\n"
	"    (the 2 above 12 times in turn)\n"
	"8,192 events: 8,192 counted, nothing lost; 8,192 of 8,192 stacks complete; 13.9 MiB\n";

static void press(struct top *t, char key, int rows)
{
	top_key(t, key == '+' ? TOP_KEY_DOWN : key == '-' ? TOP_KEY_UP : key == '^' ? '\n' : key,
		rows);
	if (t->ask == ASK_OPEN) {
		t->watching = true;
		snprintf(t->cost, sizeof(t->cost), "a counter at each page fault; tables take "
			 "13.9 MiB at most (limit 64.0 MiB); attaching 1 event");
		top_take_lines(t, strdup(stacks));
	} else if (t->ask == ASK_CLOSE) {
		t->watching = false;
	}
}

static size_t late;

static void read_answer(const char *name, struct ask *a)
{
	static char text[1 << 20];
	char path[1024];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.txt", getenv("GOLDEN"), name);
	f = fopen(path, "r");
	if (!f || answer_read(text, fread(text, 1, sizeof(text), f), &a->answer))
		printf("%s is no report\n", path);
	if (f)
		fclose(f);
}

/* In MiB, at even times. */
static void read_series(const char *list, double seconds, struct pace *p)
{
	size_t nr = 1, i = 0;

	for (const char *c = list; *c; c++)
		nr += *c == '/';
	p->nr = 0;
	for (; i < nr; i++, list += strcspn(list, "/") + 1)
		diagnose_sample(p, (__u64)(seconds * 1e9 * (double)i / (double)(nr - 1)),
				(__s64)(atof(list) * 1048576));
	p->nr = i;
}

static int diagnose(int argc, char **argv, double seconds, bool json)
{
	static struct triage_finding found[DIAGNOSE_ASKS];
	static struct conclusion c[DIAGNOSE_ASKS];
	static struct ask asks[DIAGNOSE_ASKS];
	const unsigned int what = MACHINE_SLAB | MACHINE_VMALLOC | MACHINE_SITES | MACHINE_LOG;
	struct diagnosis d = {
		.asks = asks, .conclusions = c, .tool = "v0.1.0", .planned = 60,
	};
	struct diagnose_scope scope = { 0 };
	struct machine_at at;
	struct machine before, now;
	struct triage t, census;
	char words[1500];
	int grew = 4;

	for (int i = 3; i < argc; i++) {
		sscanf(argv[i], "grew=%d", &grew);
		sscanf(argv[i], "pid=%u", &scope.pid);
		if (!strncmp(argv[i], "cgroup=", 7))
			scope.cgroup = argv[i] + 7;
	}
	if (read_tree(argv[1], what, &at, &before) || read_tree(argv[2], what, &at, &now))
		return 1;
	before.ns = 0;
	now.ns = (__u64)(seconds * 1e9);
	diagnose_narrow(&at, &scope, &before);
	diagnose_narrow(&at, &scope, &now);
	if (triage_look(&t, &at, &before, &now, false) ||
	    triage_look(&census, &at, &before, &now, true))
		return 1;
	d.t = &t;
	d.nr_asks = d.nr_conclusions = diagnose_pick(&t, &census, &scope, found, 3);
	for (size_t i = 0; i < d.nr_asks; i++) {
		asks[i].found = found[i];
		asks[i].seconds = 8;
		diagnose_sample(&asks[i].pace, 0, diagnose_bytes(&found[i], &before));
		diagnose_sample(&asks[i].pace, (__u64)(seconds * 1e9),
				diagnose_bytes(&found[i], &now));
		asks[i].end = ASK_NONE;
		if (!triage_recording(&found[i], words, sizeof(words)))
			continue;
		asks[i].end = ASK_DONE;
		snprintf(asks[i].record, sizeof(asks[i].record), "memtap record -d 8.0 %s", words);
		for (int k = 3; k < argc && !i; k++) {
			if (!strncmp(argv[k], "answer=", 7))
				read_answer(argv[k] + 7, &asks[i]);
			if (!strncmp(argv[k], "series=", 7))
				read_series(argv[k] + 7, 60, &asks[i].pace);
			if (!strncmp(argv[k], "end=", 4))
				asks[i].end = (enum ask_end)atoi(argv[k] + 4);
		}
		if (asks[i].end == ASK_NO_MODULE || asks[i].end == ASK_FAILED)
			strcpy(asks[i].error, "the module is not loaded; run `memtap load`");
		asks[i].grew = asks[i].pace.nr ? (__s64)grew << 20 : 0;
		asks[i].cpu = asks[i].end == ASK_DEAR ? 12 : 1;
	}
	for (size_t i = 0; i < d.nr_asks; i++) {
		diagnose_pace(&asks[i].pace);
		diagnose_judge(&asks[i], NULL, &t, &at, &scope, &c[i]);
	}
	diagnose_order(c, d.nr_asks);
	(json ? render_diagnosis_json : render_diagnosis)(&d, stdout);
	triage_free(&t);
	triage_free(&census);
	machine_free(&before);
	machine_free(&now);
	return 0;
}

static int top(char **argv, const char *size, const char *keys, double seconds, bool json)
{
	struct top t = { .interval = seconds };
	struct canvas c = { 0 };
	struct machine m;
	struct machine_at at;
	int rows = 24, cols = 80;

	sscanf(size, "%dx%d", &cols, &rows);
	for (int i = 1; i <= 2; i++) {
		if (read_tree(argv[i], MACHINE_SLAB, &at, &m))
			return 1;
		m.ns = i == 1 ? 1 : 1 + (__u64)(seconds * 1e9);
		m.processes.late = late;
		m.processes_seen += late;
		if (top_take(&t, &at, &m))
			return 1;
	}
	for (; *keys; keys++)
		press(&t, *keys, rows);
	if (!*size && json) {
		batch_json(&t, stdout);
	} else if (!*size) {
		batch_print(&t, stdout);
	} else if (canvas_begin(&c, rows, cols)) {
		top_draw(&t, &c);
		canvas_print(&c, stdout);
	}
	canvas_free(&c);
	top_free(&t);
	return 0;
}

/* As the samples between @before and @now say it. */
static void add_pace(struct triage_finding *f, const char *list, double seconds)
{
	struct pace p;

	read_series(list, seconds, &p);
	diagnose_pace(&p);
	diagnose_add_pace(f, &p);
}

/* @m as it comes back from a history in which @before (NULL: none) is the sample before. */
static bool through_history(const struct machine *before, struct machine *m)
{
	static char names[65536];
	static __u8 bytes[1 << 20];
	static struct code_map map;
	struct machine back;
	const size_t nr = code_fields(names, sizeof(names));
	const size_t len = code_put(before, m, bytes, sizeof(bytes));

	if (code_map_make(&map, names, nr) || code_get(&map, before, bytes, len, &back, NULL))
		return false;
	memcpy(back.release, m->release, sizeof(back.release));
	memcpy(back.host, m->host, sizeof(back.host));
	machine_free(m);
	*m = back;
	return true;
}

int main(int argc, char **argv)
{
	struct triage_opts o = { .out = stdout };
	struct machine_at at_before, at;
	struct machine before, now;
	struct triage t;
	bool census = false, doc = false, past = false;
	const char *size = NULL, *keys = "", *owners = NULL;
	double seconds = 2;
	unsigned int what;
	int ret = 1;

	if (argc == 2 && !strcmp(argv[1], "advice")) {
		for (size_t i = 0; triage_advice(i); i++)
			puts(triage_advice(i));
		return 0;
	}
	if (argc < 3)
		return 2;
	for (int i = 3; i < argc; i++) {
		census |= !strcmp(argv[i], "census");
		o.json |= !strcmp(argv[i], "json");
		o.line |= !strcmp(argv[i], "line");
		o.color |= !strcmp(argv[i], "color");
		if (!strncmp(argv[i], "top=", 4) || !strcmp(argv[i], "batch"))
			size = strchr(argv[i], '=') ? argv[i] + 4 : "";
		if (!strncmp(argv[i], "keys=", 5))
			keys = argv[i] + 5;
		past |= !strcmp(argv[i], "past");
		doc |= !strcmp(argv[i], "doctor");
		if (!strncmp(argv[i], "ps=", 3))
			owners = argv[i] + 3;
		sscanf(argv[i], "seconds=%lf", &seconds);
		sscanf(argv[i], "late=%zu", &late);
	}
	if (strstr(argv[argc - 1], "metrics"))
		return metrics(argv[1], argv[2], *argv[argc - 1] == 'o');
	if (!strcmp(argv[3 < argc ? 3 : 0], "diagnose"))
		return diagnose(argc, argv, seconds, o.json);
	if (owners)
		return ps(argc, argv, owners);
	if (doc)
		return doctor(argv[2], o.json);
	if (size)
		return top(argv, size, keys, seconds, o.json);
	what = census ? MACHINE_SLAB | MACHINE_VMALLOC | MACHINE_SITES :
	       MACHINE_SLAB | MACHINE_LOG;
	if (!read_tree(argv[1], what, &at_before, &before)) {
		if (!read_tree(argv[2], what, &at, &now)) {
			before.ns = 0;
			now.ns = (__u64)(seconds * 1e9);
			if (past && (!through_history(NULL, &before) ||
				     !through_history(&before, &now)))
				return 1;
			at.past_ns = past ? 1790000000000000000ULL : 0;
			o.past = past;
			o.real_ns = at.past_ns;
			ret = triage_look(&t, &at, &before, &now, census) ? 1 : 0;
			for (int i = 3; i < argc && !ret && past; i++)
				if (!strncmp(argv[i], "series=", 7))
					add_pace(&t.found[0], argv[i] + 7, seconds);
			if (!ret && !census && !past)
				ret = machine_read_pss(&at, &now, t.processes) ? 1 : 0;
			if (!ret) {
				(census ? render_census : render_triage)(&t, &o);
				triage_free(&t);
			}
		}
		machine_free(&now);
	}
	machine_free(&before);
	return ret;
}
