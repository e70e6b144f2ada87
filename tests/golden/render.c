// SPDX-License-Identifier: GPL-2.0-or-later
/* LINK: ctl/machine/process.c */
/* LINK: ctl/machine/container.c ctl/base/json_read.c */
/* LINK: ctl/base/opt_table.c ctl/base/opt_value.c ctl/sym/jitmaps.c */
/* LINK: ctl/sym/jvm.c ctl/target/cgroup.c ctl/target/procs.c */
/* LINK: ctl/base/arena.c ctl/base/child.c ctl/base/ids.c ctl/base/json.c ctl/base/limit.c */
/* LINK: ctl/base/openreg.c ctl/base/out.c ctl/base/text.c ctl/elf/build_id.c ctl/leaks/leaks.c */
/* LINK: ctl/leaks/look_way.c ctl/base/err.c */
/* LINK: ctl/render/suppression.c ctl/render/xml.c */
/* LINK: ctl/leaks/suppress.c ctl/leaks/suppress_block.c ctl/leaks/suppress_text.c */
/* LINK: ctl/render/accounts.c ctl/render/callgrind.c ctl/render/chain.c */
/* LINK: ctl/render/columns.c ctl/render/diff.c */
/* LINK: ctl/render/events.c ctl/render/flame.c ctl/render/losses.c */
/* LINK: ctl/render/flame_page.c ctl/render/functions.c ctl/report/select.c */
/* LINK: ctl/render/flame_data.c ctl/render/folded.c ctl/render/footer.c ctl/render/frames.c */
/* LINK: ctl/render/json.c ctl/render/json_stack.c ctl/render/leaks.c */
/* LINK: ctl/render/leaks_calls.c ctl/render/verdict.c */
/* LINK: ctl/render/leaks_footer.c ctl/render/leaks_json.c ctl/render/memory.c */
/* LINK: ctl/render/perf_data.c */
/* LINK: ctl/render/heaptrack.c ctl/render/massif.c ctl/render/perf.c ctl/render/pprof.c */
/* LINK: ctl/render/speedscope.c */
/* LINK: ctl/render/render.c ctl/render/save.c ctl/render/stacks.c ctl/render/stat.c */
/* LINK: ctl/base/csv.c */
/* LINK: ctl/render/summary.c ctl/render/table.c ctl/render/words.c ctl/report/cut.c */
/* LINK: ctl/report/block.c ctl/report/diff.c */
/* LINK: ctl/report/group.c ctl/report/held.c ctl/report/leaks.c ctl/report/live_series.c */
/* LINK: ctl/report/mapped.c */
/* LINK: ctl/report/merge.c ctl/report/pages.c */
/* LINK: ctl/report/order.c ctl/report/past.c ctl/report/report.c ctl/report/row.c */
/* LINK: ctl/report/peak.c */
/* LINK: ctl/report/stack.c ctl/report/sums.c ctl/report/trend.c */
/* LINK: ctl/snap/common.c ctl/snap/index.c ctl/snap/io.c ctl/snap/live.c */
/* LINK: ctl/snap/merge.c ctl/snap/snap.c */
/* LINK: ctl/sym/alt.c ctl/sym/cache.c ctl/sym/cgroup.c ctl/sym/cxx.c ctl/sym/debug.c */
/* LINK: ctl/elf/dwarf_text.c */
/* LINK: ctl/sym/demangle.c ctl/sym/dwarf.c ctl/sym/elf.c ctl/sym/find.c ctl/sym/kernel.c */
/* LINK: ctl/sym/perfmap.c ctl/sym/rust.c ctl/sym/sym.c ctl/sym/user.c ctl/target/ldcache.c */
/* LINK: ctl/target/maps.c ctl/target/target.c kmod/core/names.c kmod/core/wire.c -ldw -lelf */
/* LINK: ctl/machine/caches.c ctl/machine/text.c */
/* LINK: ctl/render/oom.c ctl/render/oom_json.c ctl/render/oom_stack.c ctl/triage/oom.c */
/* LINK: ctl/triage/oom_text.c ctl/triage/oom_score.c ctl/triage/oom_charged.c */
/* LINK: ctl/triage/oom_memory.c ctl/triage/oom_clean.c */
/* LINK: ctl/triage/oom_made.c ctl/triage/advice.c -lstdc++ -lm -lz */
/*
 * render FILE [OPTION=VALUE...]: a report of one file through the reading and
 * rendering half alone.  Options are the fields of struct render_opts and its rows, and
 * debug_dir, diff (an older file), was (a file it is compared with), since (an older file:
 * what grew is first), save (a file to write), killed (with a record of an OOM kill), stat (the
 * counts alone), stale (in milliseconds; two blocks of three are), room (bytes until memory is
 * full), slabs (where a /sys/kernel/slab is).
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leaks/suppress.h"
#include "render/render.h"
#include "render/save.h"
#include "render/stat.h"
#include "report/select.h"
#include "triage/oom.h"

static const char *option(char **args, const char *name)
{
	size_t len = strlen(name);

	for (; *args; args++)
		if (!strncmp(*args, name, len) && (*args)[len] == '=')
			return *args + len + 1;
	return NULL;
}

static int choice(char **args, const char *name, const char *const *words)
{
	const char *value = option(args, name);

	for (int i = 0; value && words[i]; i++)
		if (!strcmp(value, words[i]))
			return i;
	return 0;
}

static struct snap *load(const char *path)
{
	struct snap *s;
	char err[256];
	int fd = open(path, O_RDONLY);

	if (fd < 0) {
		perror(path);
		exit(1);
	}
	if (snap_from_fd(fd, &s, err)) {
		fprintf(stderr, "%s\n", err);
		exit(1);
	}
	close(fd);
	return s;
}

static int save(const struct snap *snap, struct sym *sym, const char *path, bool killed)
{
	static struct memtap_oom_record made;
	static const char *const feet[] = { "fitting", "line", "whole", "alone", NULL };
	static const char *const notes[] = { "saved=again", NULL };
	struct save_more more = { .notes = notes };
	int err;

	oom_make(&made, 1800000000000000000ULL);
	more.ooms = killed ? &made : NULL;
	more.nr_ooms = killed;
	err = save_snap(snap, sym, &more, path);

	if (err)
		fprintf(stderr, "save: %s\n", strerror(-err));
	return !!err;
}

static int counts(const struct snap *snap, const struct render_opts *r)
{
	const struct stat_opts o = {
		.seconds = 1.25, .final = true, .timestamp = r->timestamp,
		.json = r->format == FORMAT_JSON, .verbose = r->foot == FOOT_WHOLE,
		.quiet = r->quiet,
	};

	stat_header(stdout, &o);
	stat_print(stdout, snap, &o);
	return 0;
}

/* The second of two reports of a session. */
static int again(const struct snap *snap, const char *path, struct sym *sym,
		 struct render_opts *o)
{
	struct snap *before = load(path);
	FILE *nowhere = fopen("/dev/null", "w");
	struct report_past *past = report_past_new();
	int err;

	o->rows.next = past;
	o->rows.grew_first = true;
	err = render_report(before, sym, o, nowhere);
	o->rows.next = NULL;
	o->rows.past = past;
	if (!err)
		err = render_report(snap, sym, o, stdout);
	report_past_free(past);
	snap_free(before);
	fclose(nowhere);
	return !!err;
}

/* Patterns, separated by commas; and those of a file. */
static struct suppress *suppressions(const char *text, const char *file)
{
	struct suppress *s = suppress_new();
	char line[256], err[256];

	if (file && suppress_add_file(s, file, err)) {
		fprintf(stderr, "%s\n", err);
		exit(1);
	}

	while (text && *text) {
		const int len = strcspn(text, ",");

		snprintf(line, sizeof(line), "leak:%.*s", len, text);
		if (suppress_add(s, line, strlen(line), err)) {
			fprintf(stderr, "%s\n", err);
			exit(1);
		}
		text += len + (text[len] == ',');
	}
	return s;
}

/* Every third block is used; the others were not for so many seconds, and some. */
static void let_rest(struct snap *snap, unsigned int seconds)
{
	snap->idle_ns = calloc(snap->nr_blocks + 1, sizeof(*snap->idle_ns));
	for (size_t i = 0; snap->idle_ns && i < snap->nr_blocks; i++)
		snap->idle_ns[i] = i % 3 ? (seconds + i) * 1000000000ULL : 0;
}

static int compare(const char *path, const struct snap *snap, struct sym *sym,
		   const struct sym_opts *so, const struct render_opts *o)
{
	struct render_side sides[2] = {
		{ load(path), sym_new(so), "former.memtap", "what was asked first" },
		{ snap, sym, "latter.memtap", o->title },
	};
	int ret = !!render_diff(sides, o, stdout);

	snap_free((struct snap *)sides[0].snap);
	sym_free(sides[0].sym);
	return ret;
}

static void add_text(struct opt_strs *list, const char *text)
{
	if (text)
		list->at[list->nr++] = text;
}

/* In seconds from the start; the report's filter as `memtap report` has it. */
static int select_rows(struct snap *snap, struct sym *sym, char **args)
{
	static struct opts o;
	struct select sel = { .o = &o };
	char line[SELECT_WHY];

	add_text(&o.comms, option(args, "comm"));
	add_text(&o.cgroups, option(args, "cgroup"));
	add_text(&o.dsos, option(args, "file"));
	add_text(&o.symbols, option(args, "symbol"));
	add_text(&o.events, option(args, "event"));
	if (option(args, "pid"))
		o.pids.at[o.pids.nr++] = (__u32)atoi(option(args, "pid"));
	if (option(args, "tid"))
		o.tids.at[o.tids.nr++] = (__u32)atoi(option(args, "tid"));
	if (option(args, "after"))
		sel.from_ns = snap->header.start_ns + atoi(option(args, "after")) * 1000000000ULL;
	if (option(args, "before"))
		sel.until_ns = snap->header.start_ns + atoi(option(args, "before")) * 1000000000ULL;
	if (report_select(snap, sym, &sel, line)) {
		fprintf(stderr, "%s\n", line);
		return 1;
	}
	for (size_t i = 0; !option(args, "format") && report_left_out(snap, i, line); i++)
		printf("# %s\n", line);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const bys[] = { "process", "thread", "comm", "cgroup", "none",
					  "program", "file", "mapping", "stack", "cache",
					  "module", "user", "function", "dso", NULL };
	static const char *const sorts[] = { "default", "count", "value", "max", "age", "size",
					    "slope", "function", "dso", "comm", "thread",
					    "event", "self", "total", NULL };
	static const char *const feet[] = { "fitting", "line", "whole", "alone", NULL };
	static const char *const notes[] = { "a note of the command", NULL };
	char **args = argv + 2;
	struct snap *snap, *old = NULL, *diff = NULL;
	struct render_opts o = { 0 };
	struct sym_opts so = { 0 };
	struct machine_room room = { .what = "the end of available memory" };
	struct sym *sym;
	int ret;

	if (argc < 2)
		return 2;
	so.debug_dir = option(args, "debug_dir");
	o.format = choice(args, "format", format_words);
	o.rows.by = choice(args, "by", bys);
	o.rows.by_given = option(args, "by");
	o.rows.sort = choice(args, "sort", sorts);
	o.rows.top = option(args, "top") ? atoi(option(args, "top")) : 0;
	o.calls = option(args, "calls");
	o.rows.min_percent = option(args, "min_percent") ? atof(option(args, "min_percent")) : 0;
	o.rows.sums_only = option(args, "sums_only");
	o.rows.no_user = option(args, "no_user");
	o.rows.no_kernel = option(args, "no_kernel");
	o.rows.addresses = option(args, "addresses");
	o.timestamp = option(args, "timestamp");
	o.rows.older_ms = option(args, "older_ms") ? atoi(option(args, "older_ms")) : 0;
	o.rows.leak_kinds = option(args, "leak_kinds") ? atoi(option(args, "leak_kinds")) : 0;
	o.rows.of = option(args, "of") ? strtoul(option(args, "of"), NULL, 0) : 0;
	o.program = option(args, "program");
	o.bytes_as_time = option(args, "bytes_as_time");
	o.blocks = option(args, "blocks");
	o.rows.show_allocs = option(args, "show_allocs");
	o.rows.rolled_up = option(args, "rolled_up");
	o.rows.suppressions = option(args, "gen");
	o.summary = option(args, "summary");
	o.quiet = option(args, "quiet");
	o.line = option(args, "line");
	o.rows.lines = option(args, "lines");
	o.rows.no_loader = option(args, "no_loader");
	o.rows.trends = option(args, "trends");
	o.rows.from_ns = option(args, "from") ? atoi(option(args, "from")) * 1000000ULL : 0;
	o.rows.until_ns = option(args, "until") ? atoi(option(args, "until")) * 1000000ULL : 0;
	o.rows.changes = option(args, "changes") ? atoi(option(args, "changes")) : 0;
	room.bytes = option(args, "room") ? strtoull(option(args, "room"), NULL, 0) : 0;
	o.rows.room = room.bytes ? &room : NULL;
	if (option(args, "slabs"))
		o.rows.caches = machine_caches_read(&(struct machine_at){
			.root = option(args, "slabs") });
	o.no_kinds = option(args, "no_kinds");
	o.rows.suppress = suppressions(option(args, "suppress"), option(args, "known"));
	o.foot = choice(args, "foot", feet);
	o.number = option(args, "number") ? atoi(option(args, "number")) : 0;
	o.title = option(args, "title");
	o.command = option(args, "command");
	o.notes = notes;
	snap = load(argv[1]);
	if (option(args, "stale")) {
		o.rows.stale_ns = atoi(option(args, "stale")) * 1000000ULL;
		let_rest(snap, atoi(option(args, "stale")) / 1000 + 1);
	}
	sym = sym_new(&so);
	if (option(args, "diff")) {
		old = load(option(args, "diff"));
		diff = snap_diff(snap, old);
	}
	if (select_rows(snap, sym, args))
		ret = 1;
	else if (option(args, "save"))
		ret = save(snap, sym, option(args, "save"), option(args, "killed"));
	else if (option(args, "stat"))
		ret = counts(snap, &o);
	else if (option(args, "since"))
		ret = again(snap, option(args, "since"), sym, &o);
	else if (option(args, "was"))
		ret = compare(option(args, "was"), snap, sym, &so, &o);
	else
		ret = !!render_report(diff ? diff : snap, sym, &o, stdout);
	machine_caches_free(o.rows.caches);
	suppress_free((struct suppress *)o.rows.suppress);
	snap_free(diff);
	snap_free(old);
	snap_free(snap);
	sym_free(sym);
	return ret;
}
