// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of all options. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"

static void *field(struct opts *o, size_t offset)
{
	return (char *)o + offset;
}

#define UNUSED __attribute__((unused))

static int flag(struct opts *o, size_t offset, const char *value UNUSED,
		const struct opt_def *def UNUSED)
{
	*(bool *)field(o, offset) = true;
	return 0;
}

static int text(struct opts *o, size_t offset, const char *value,
		const struct opt_def *def UNUSED)
{
	const char **at = field(o, offset);

	if (!*value)
		return -EINVAL;
	/* a second one would take the place of the first without a word */
	if (*at && strcmp(*at, value))
		return -EEXIST;
	*at = value;
	return 0;
}

static int texts(struct opts *o, size_t offset, const char *value,
		 const struct opt_def *def UNUSED)
{
	struct opt_strs *list = field(o, offset);

	if (!*value)
		return -EINVAL;
	if (list->nr == OPT_MAX_LIST)
		return -E2BIG;
	list->at[list->nr++] = value;
	return 0;
}

#define BLANKS	" \t\n\v\f\r"

/* 1,2,3; blanks will do as well: pidof(1) has them between its numbers */
static int ids(struct opts *o, size_t offset, const char *value,
	       const struct opt_def *def UNUSED)
{
	struct opt_nums *list = field(o, offset);
	char item[16];
	size_t len;
	__u64 v;

	for (;;) {
		value += strspn(value, BLANKS);
		len = strcspn(value, "," BLANKS);
		if (len >= sizeof(item))
			return -EINVAL;
		memcpy(item, value, len);
		item[len] = '\0';
		if (!opt_u64(item, &v) || !v || v > OPT_MAX_ID)
			return -EINVAL;
		if (list->nr == OPT_MAX_LIST)
			return -E2BIG;
		list->at[list->nr++] = (__u32)v;
		value += len;
		value += strspn(value, BLANKS);
		if (!*value)
			return 0;
		value += *value == ',';
	}
}

bool opt_is_ids(const struct opt_def *def)
{
	return def->parse == ids;
}

static int number(struct opts *o, size_t offset, const char *value,
		  const struct opt_def *def UNUSED)
{
	__u64 v;

	if (!opt_u64(value, &v) || v > 0xffffffff)
		return -EINVAL;
	*(__u32 *)field(o, offset) = (__u32)v;
	if (offset == offsetof(struct opts, top))
		o->top_given = true;
	if (offset == offsetof(struct opts, order))
		o->order_given = true;
	return 0;
}

/* @ret of what parsed a number, which must not be 0. */
static int not_zero(int ret, struct opts *o, size_t offset)
{
	return ret ? ret : *(__u32 *)field(o, offset) ? 0 : -EINVAL;
}

static int positive(struct opts *o, size_t offset, const char *value,
		    const struct opt_def *def)
{
	return not_zero(number(o, offset, value, def), o, offset);
}

/* Of one process. */
static int id(struct opts *o, size_t offset, const char *value, const struct opt_def *def)
{
	const int ret = positive(o, offset, value, def);

	return ret ? ret : *(__u32 *)field(o, offset) <= OPT_MAX_ID ? 0 : -EINVAL;
}

static int exit_status(struct opts *o, size_t offset, const char *value,
		       const struct opt_def *def)
{
	const int ret = positive(o, offset, value, def);

	return ret ? ret : *(__u32 *)field(o, offset) < 256 ? 0 : -EINVAL;
}

static int size(struct opts *o, size_t offset, const char *value,
		const struct opt_def *def UNUSED)
{
	__u64 v;

	if (!opt_size(value, &v) || !v)
		return -EINVAL;
	*(__u64 *)field(o, offset) = v;
	return 0;
}

bool opt_is_number(const struct opt_def *def)
{
	return def->parse == number;
}

bool opt_is_positive(const struct opt_def *def)
{
	return def->parse == positive;
}

/* Milliseconds unless there is a unit. */
static int millis(struct opts *o, size_t offset, const char *value,
		  const struct opt_def *def UNUSED)
{
	double v;

	if (!opt_time(value, 0.001, &v) || v > 4e6)
		return -EINVAL;
	*(__u32 *)field(o, offset) = (__u32)(v * 1000 + 0.5);
	if (offset == offsetof(struct opts, older))
		o->older_given = true;
	return 0;
}

static int millis_some(struct opts *o, size_t offset, const char *value,
		       const struct opt_def *def)
{
	return not_zero(millis(o, offset, value, def), o, offset);
}

static int seconds(struct opts *o, size_t offset, const char *value,
		   const struct opt_def *def UNUSED)
{
	double v;

	if (!opt_seconds(value, &v) || v <= 0)
		return -EINVAL;
	*(double *)field(o, offset) = v;
	return 0;
}

/* One character, or \\t. */
static int separator(struct opts *o, size_t offset, const char *value,
		     const struct opt_def *def UNUSED)
{
	if (!strcmp(value, "\\t"))
		value = "\t";
	if (strlen(value) != 1 || *value == '"' || *value == '\n' || *value == '.' ||
	    isalnum((unsigned char)*value))
		return -EINVAL;
	*(const char **)field(o, offset) = value;
	return 0;
}

/* Of a hundred. */
static int percent(struct opts *o, size_t offset, const char *value,
		   const struct opt_def *def UNUSED)
{
	char *end;
	const double v = strtod(value, &end);

	if (!strchr("0123456789.", *value) || end == value || strcmp(end, *end == '%' ? "%" : "") ||
	    v < 0 || v > 100)
		return -EINVAL;
	*(double *)field(o, offset) = v;
	return 0;
}

static int minutes(struct opts *o, size_t offset, const char *value,
		   const struct opt_def *def UNUSED)
{
	double v;

	if (!opt_time(value, 60, &v) || v < 1)
		return -EINVAL;
	*(double *)field(o, offset) = v;
	return 0;
}

/* One of def->words; kept as its index. */
static int word(struct opts *o, size_t offset, const char *value,
		const struct opt_def *def)
{
	for (int i = 0; def->words[i]; i++)
		if (!strcmp(def->words[i], value)) {
			*(int *)field(o, offset) = i;
			return 0;
		}
	return -EINVAL;
}

/* In the order of enum report_by. */
static const char *const by_names[] = {
	"process", "thread", "comm", "cgroup", "none", "program", "file", "mapping", "stack",
	"cache", "module", "user", "function", "dso", "event", "container",
	"service", "host", NULL
};

/* What --by takes: of reports of events, of tables of sums, of leaks, and of arguments. */
static const char *const by_events[] = {
	"process", "thread", "comm", "cgroup", "container", "program", "file", "mapping", "none",
	NULL
};
static const char *const by_all[] = {
	"process", "thread", "comm", "cgroup", "container", "none", "program", "file", "mapping",
	"stack", "cache", "module", "host", NULL
};
static const char *const by_tasks[] = {
	"process", "thread", "comm", "cgroup", "container", "program", "none", NULL
};
static const char *const by_sums[] = {
	"process", "thread", "comm", "cgroup", "container", "none", NULL
};
static const char *const by_leaks[] = {
	"process", "thread", "comm", "cgroup", "container", "program", "stack", "cache", "module",
	"none", NULL
};
static const char *const by_tables[] = {
	"process", "thread", "comm", "cgroup", "container", "none", "program", "file", "mapping",
	"stack", "cache", "module", "function", "dso", "event", "host", NULL
};
static const char *const by_owners[] = {
	"process", "program", "user", "cgroup", "container", "mapping", NULL
};
static const char *const by_values[] = { "process", "thread", "comm", "none", NULL };

/* In the order of enum report_sort after its default. */
static const char *const sort_words[] = {
	"count", "value", "max", "age", "size", "slope", NULL
};

/* The same, of a heap: "count" is of blocks. */
static const char *const heap_sort_words[] = { "size", "count", NULL };
/* The same, of recordings. */
static const char *const sort_tables[] = {
	"count", "value", "max", "age", "size", "slope", "function", "dso", "comm", "thread",
	"event", "self", "total", NULL
};

const char *const format_words[] = {
	"table", "folded", "flame", "json", "callgrind", "perf-script", "pprof", "massif",
	"speedscope", "xml", "heaptrack", "perf-data", NULL
};

_Static_assert(sizeof(format_words) / sizeof(format_words[0]) == NR_FORMATS + 1,
	       "a format without a name");

const char *const ps_words[] = {
	"pss", "rss", "uss", "swap-pss", "swap", "anon", "dirty", "referenced", "huge", "lazy-free",
	"ksm", "locked", "hugetlb", "tables", "size", NULL
};

_Static_assert(sizeof(ps_words) / sizeof(ps_words[0]) == NR_PS_SUMS + 1, "a sum without a name");

/* In the order of enum opt_time. */
static const char *const time_words[] = { "ms", "B", NULL };

/* In the order of enum opt_unwind. */
static const char *const unwind_words[] = { "auto", "dwarf", "fp", NULL };

/* One of these, or "rows", as "dwarf" was called before 0.1.0. */
static int unwind(struct opts *o, size_t offset, const char *value, const struct opt_def *def)
{
	return word(o, offset, strcmp(value, "rows") ? value : "dwarf", def);
}

static int index_of(const char *const *words, const char *value)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], value))
			return i;
	return -1;
}

/* One of the words that this command takes; kept as enum report_by. */
static int by(struct opts *o, size_t offset, const char *value, const struct opt_def *def)
{
	const int what = index_of(by_names, value);
	int *at = field(o, offset);

	if (index_of(def->words, value) < 0)
		return -EINVAL;
	if (*at >= 0 && *at != what)
		return -EEXIST;
	*at = what;
	return 0;
}

/* In a list "process" and "thread" group, and "comm" is an argument: see args.c. */
static int by_list(struct opts *o, size_t offset, const char *value, const struct opt_def *def)
{
	static const char *const groups[] = { "process", "thread" };
	size_t len;
	int ret = 0;

	for (; !ret && strchr(value, ','); value += len + 1) {
		len = strcspn(value, ",");
		for (size_t i = 0; !ret && i < 2; i++)
			if (strlen(groups[i]) == len && !strncmp(groups[i], value, len))
				ret = by(o, offset, groups[i], def);
	}
	for (size_t i = 0; !ret && i < 2; i++)
		if (!strcmp(groups[i], value))
			ret = by(o, offset, value, def);
	return ret;
}

/* The same, or else arguments; of each there may be one. */
static int by_what(struct opts *o, size_t offset, const char *value, const struct opt_def *def)
{
	int ret = by(o, offset, value, def);

	if (ret != -EINVAL)
		return ret;
	ret = by_list(o, offset, value, def);
	if (ret)
		return ret;
	if (o->by_arg && strcmp(o->by_arg, value))
		return -EEXIST;
	o->by_arg = value;
	return *value ? 0 : -EINVAL;
}

/* HEADING is that of the options below it in the table. */
#define OPT(letter, name, arg, groups, parse, member, help) \
	{ letter, name, arg, help, groups, parse, offsetof(struct opts, member), NULL, HEADING }
#define OPT_WORD(letter, name, arg, groups, member, words, help) \
	{ letter, name, arg, help, groups, word, offsetof(struct opts, member), words, HEADING }
#define OPT_BY_WORD(groups, words, help) \
	{ 0, "by", "WHAT", help, groups, by, offsetof(struct opts, by), words, HEADING }

/* No two groups have the same bit: their sum is then the same as all bits. */
_Static_assert((OPT_TARGET | OPT_RUN | OPT_SELECT | OPT_STACK | OPT_KINDS | OPT_RENDER |
	       OPT_FLAMES | OPT_OUT | OPT_PIDS | OPT_MMAP | OPT_BY | OPT_JSON | OPT_WORDS |
	       OPT_UNWIND | OPT_LEAKS | OPT_LIVE | OPT_TRACE | OPT_RECORD | OPT_CALLS |
	       OPT_SIZES | OPT_WALK | OPT_SELFTEST | OPT_INTERVAL | OPT_KERNEL_LEAKS |
	       OPT_DIST | OPT_HIST | OPT_VALUE | OPT_EACH | OPT_DOCTOR | OPT_OOM | OPT_MONITOR |
	       OPT_PRESSURE | OPT_SHM | OPT_FAULTS | OPT_CACHES | OPT_ORDER | OPT_NUMA | OPT_RSS |
	       OPT_CHANGES | OPT_STALE | OPT_MARKS | OPT_DRAIN | OPT_BY_LEAKS | OPT_BY_SUMS |
	       OPT_BY_TASKS | OPT_BY_ALL | OPT_ALL | OPT_METRICS | OPT_PS | OPT_LIST |
	       OPT_NONE | OPT_PICK | OPT_BETWEEN | OPT_TABLES | OPT_SYMBOLIZE | OPT_FLEET |
	       OPT_AT | OPT_HISTORY | OPT_RULES | OPT_REPEAT | OPT_DIAGNOSE) ==
	       (__u64)OPT_TARGET + OPT_RUN + OPT_SELECT + OPT_STACK + OPT_KINDS + OPT_RENDER +
	       OPT_FLAMES + OPT_OUT + OPT_PIDS + OPT_MMAP + OPT_BY + OPT_JSON + OPT_WORDS +
	       OPT_UNWIND + OPT_LEAKS + OPT_LIVE + OPT_TRACE + OPT_RECORD + OPT_CALLS +
	       OPT_SIZES + OPT_WALK + OPT_SELFTEST + OPT_INTERVAL + OPT_KERNEL_LEAKS +
	       OPT_DIST + OPT_HIST + OPT_VALUE + OPT_EACH + OPT_DOCTOR + OPT_OOM + OPT_MONITOR +
	       OPT_PRESSURE + OPT_SHM + OPT_FAULTS + OPT_CACHES + OPT_ORDER + OPT_NUMA + OPT_RSS +
	       OPT_CHANGES + OPT_STALE + OPT_MARKS + OPT_DRAIN + OPT_BY_LEAKS + OPT_BY_SUMS +
	       OPT_BY_TASKS + OPT_BY_ALL + OPT_ALL + OPT_METRICS + OPT_PS + OPT_LIST +
	       OPT_NONE + OPT_PICK + OPT_BETWEEN + OPT_TABLES + OPT_SYMBOLIZE + OPT_FLEET +
	       OPT_AT + OPT_HISTORY + OPT_RULES + OPT_REPEAT + OPT_DIAGNOSE,
	       "groups of options share a bit");

/* In the order of `memtap CMD --help`; a text of up to 50 letters has one line there. */
const struct opt_def opt_table[] = {
#define HEADING OPT_HEAD_TARGET
	OPT('p', "pid", "PID,...", OPT_TARGET | OPT_PIDS | OPT_PICK, ids, pids,
	    "processes with these PIDs"),
	OPT('p', "pid", "PID,...", OPT_OOM | OPT_MONITOR, ids, pids,
	    "only where this process is victim or trigger"),
	OPT(0, "tid", "TID,...", OPT_ALL | OPT_PICK, ids, tids, "threads with these TIDs"),
	OPT('c', "command", "CMD", OPT_TARGET, text, command,
	    "run CMD and follow it; same as -- CMD ARGS"),
	OPT('a', "all-processes", NULL, OPT_ALL, flag, system,
	    "all processes (default without a target)"),
	OPT(0, "comm", "NAME", OPT_TARGET | OPT_OOM | OPT_MONITOR | OPT_PICK, texts, comms,
	    "threads named NAME (at most 15 letters)"),
	OPT(0, "cgroup", "PATH|INODE", OPT_TARGET | OPT_OOM | OPT_MONITOR | OPT_PICK, texts,
	    cgroups, "processes in this cgroup and in those below it"),
	OPT(0, "cgroup", "PATH", OPT_PS | OPT_DIAGNOSE, texts, cgroups,
	    "processes in this cgroup and in those below it"),
	OPT(0, "uid", "NAME|UID", OPT_PS, texts, users, "processes of this user"),
	OPT(0, "map", "PID", OPT_PS, id, map, "list the mappings of this process"),
	OPT(0, "children", NULL, OPT_TARGET, flag, children,
	    "also processes that the target starts"),
	OPT('k', "kernel-memory", NULL, OPT_KERNEL_LEAKS, flag, kernel_memory,
	    "the kernel's own memory (default without a target)"),
	OPT('k', "kernel-memory", NULL, OPT_RECORD, flag, kernel_memory,
	    "with --leaks: the kernel's own memory"),
#undef HEADING
#define HEADING OPT_HEAD_RECORD
	OPT(0, "leaks", NULL, OPT_RECORD, flag, leaks,
	    "record live blocks, for a report on leaks"),
	OPT(0, "major", NULL, OPT_FAULTS, flag, major,
	    "only faults that waited for I/O, and their latency"),
	OPT(0, "huge", NULL, OPT_FAULTS, flag, huge,
	    "print huge page events: mapped, collapsed, split"),
	OPT(0, "snoop", NULL, OPT_MMAP, flag, snoop,
	    "print each call with its arguments and result"),
	OPT(0, "all", NULL, OPT_MMAP, flag, all,
	    "include munmap; with --snoop all mapping calls"),
	OPT(0, "live", NULL, OPT_SHM, flag, live,
	    "list shared memory in use; needs no `memtap load`"),
	OPT(0, "numa", NULL, OPT_PS, flag, numa, "show resident memory by NUMA node"),
	OPT(0, "numa", NULL, OPT_NUMA, flag, numa,
	    "show NUMA balancing (migrate)"),
	OPT(0, "unreachable", NULL, OPT_LEAKS, flag, reach,
	    "find unreachable blocks; pauses the process"),
	OPT(0, "no-unreachable", NULL, OPT_HEAP, flag, no_reach,
	    "do not search for unreachable blocks"),
	OPT(0, "retained", NULL, OPT_HEAP, flag, retained,
	    "show which variables and stacks hold blocks"),
	OPT(0, "path", "ADDRESS|KIND", OPT_HEAP, text, path,
	    "show a shortest path of pointers to a block"),
	OPT(0, "core", "FILE", OPT_HEAP, text, core,
	    "read a core file, or what --save wrote"),
	OPT(0, "exe", "FILE", OPT_HEAP, text, exe,
	    "--core: the program, if it was moved"),
	OPT(0, "save", "FILE", OPT_HEAP, text, save,
	    "also write its memory to FILE, to look again"),
	OPT(0, "stale", "MIN", OPT_STALE, minutes, stale,
	    "only memory not accessed for MIN: 5 (min), 30s"),
	OPT(0, "cache", "PATTERN", OPT_KERNEL_LEAKS | OPT_RECORD, text, cache,
	    "-k: only slab caches that match, as 'kmalloc-*'"),
	OPT(0, "cache", "PATTERN", OPT_CACHES, text, cache,
	    "only caches whose name matches, as 'kmalloc-*'"),
	OPT(0, "waste", NULL, OPT_CACHES, flag, waste,
	    "show wasted bytes, and frees on another CPU"),
	OPT(0, "module", "NAME", OPT_KERNEL_LEAKS | OPT_RECORD, text, module,
	    "-k: only allocations by this kernel module"),
	OPT(0, "order", "N", OPT_KERNEL_LEAKS | OPT_RECORD, number, order,
	    "-k: only blocks of 2^N pages"),
	OPT(0, "order", "N", OPT_ORDER, number, order,
	    "show stacks that allocate blocks of 2^N pages"),
	OPT(0, "census", NULL, OPT_KERNEL_LEAKS, flag, census,
	    "-k: show which kind grows; needs no `memtap load`"),
	OPT(0, "trace", NULL, OPT_TRACE, flag, trace,
	    "print each allocation and free"),
	OPT(0, "filter", "CONDITION", OPT_SELECT | OPT_OOM | OPT_MONITOR, text, filter,
	    "only events that meet it: 'order > 2 && pid != 1'"),
	OPT(0, "value", "NAME", OPT_VALUE, text, value,
	    "sum this argument of the event"),
	OPT(0, "latency", NULL, OPT_EACH, flag, latency,
	    "show how long each call took, in ns"),
	OPT(0, "string-size", "N", OPT_EACH | OPT_DIST, positive, string_size,
	    "keep N bytes of each string (16-1023; default 127)"),
	OPT(0, "event", "PATTERN", OPT_PICK, texts, events,
	    "only these events; also behind FILE"),
	OPT(0, "symbol", "PATTERN", OPT_PICK, texts, symbols,
	    "only stacks with such a function, as 'vfs_*'"),
	OPT(0, "file", "PATTERN", OPT_PICK, texts, dsos,
	    "only stacks with code of such a file, and events"),
	OPT(0, "dso", "PATTERN", OPT_PICK, texts, dsos, "the same as --file"),
	OPT('U', "user", NULL, OPT_KINDS, flag, user, "only user stacks"),
	OPT('K', "kernel", NULL, OPT_KINDS, flag, kernel, "only kernel stacks"),
	OPT(0, "hist", NULL, OPT_STACK, flag, hist,
	    "histograms of values, in powers of two"),
	OPT(0, "log", "FILE", OPT_OOM, text, log,
	    "explain the kills in a saved kernel log (-: stdin)"),
	OPT(0, "when", "CONDITION", OPT_RULES, texts, whens,
	    "begin --do when 'available < 5% for 20s', ..."),
	OPT(0, "do", "ACTION", OPT_RULES, texts, dos,
	    "what the --when before it begins: 'faults 30s'"),
	OPT(0, "config", "FILE", OPT_RULES | OPT_HISTORY, text, config,
	    "read rules from FILE (default /etc/memtap.conf)"),
	OPT(0, "at", "TIME", OPT_AT, text, at,
	    "show a moment of the history: 03:12, -2h (ago)"),
	OPT(0, "between", "FROM,UNTIL", OPT_AT, text, between,
	    "show this part of the history, as 03:00,03:20"),
	OPT(0, "last", "N", OPT_OOM, positive, last,
	    "show the last N recorded kills (at most 32)"),
	OPT(0, "exec", "PROGRAM", OPT_MONITOR, text, exec,
	    "run PROGRAM at each event, with the line as input"),
	OPT(0, "regex", NULL, OPT_LIST, flag, regex,
	    "PATTERN is an extended regular expression"),
#undef HEADING
#define HEADING OPT_HEAD_DURATION
	OPT('d', "duration", "TIME", OPT_RUN | OPT_OOM | OPT_MONITOR | OPT_RULES, seconds, duration,
	    "stop after TIME: 10 (s), 2m, 1h (default: Ctrl-C)"),
	OPT('d', "duration", "TIME", OPT_DIAGNOSE, seconds, duration,
	    "take TIME in all: 60 (s, default), 10m"),
	OPT('M', "max-events", "N", OPT_EACH, positive, max_events,
	    "stop after N events were printed"),
#undef HEADING
#define HEADING OPT_HEAD_OUTPUT
	OPT_BY_WORD(OPT_BY, by_events, "one row per stack and WHAT (default process)"),
	OPT_BY_WORD(OPT_BY_TASKS, by_tasks, "one row per stack and WHAT (default process)"),
	OPT_BY_WORD(OPT_BY_SUMS, by_sums, "one row per"),
	OPT_BY_WORD(OPT_BY_LEAKS, by_leaks, "one row per"),
	OPT_BY_WORD(OPT_PS, by_owners, "one row per"),
	OPT_BY_WORD(OPT_TABLES, by_tables, "one row per stack and WHAT (default process)"),
	OPT_BY_WORD(OPT_BY_ALL, by_all, "one row per stack and WHAT (default process)"),
	{ 0, "by", "WHAT", "one row per value of this argument, or per",
	  OPT_DIST, by_what, offsetof(struct opts, by), by_values, HEADING },
	OPT(0, "top", "N", OPT_ANNOTATE | OPT_RENDER | OPT_DIST | OPT_PRESSURE | OPT_CACHES |
	    OPT_HEAP | OPT_METRICS | OPT_PS, number, top,
	    "show N largest rows (default 20, leaks 10; 0: all)"),
	OPT(0, "min-percent", "PERCENT", OPT_TABLES, percent, min_percent,
	    "hide rows with less of their event than this"),
	OPT(0, "no-stacks", NULL, OPT_TABLES, flag, no_stacks,
	    "one row per WHAT of --by, without stacks"),
	OPT_WORD(0, "sort", "WHAT", OPT_TABLES, sort, sort_tables, "order rows by"),
	OPT_WORD(0, "sort", "WHAT", OPT_RENDER, sort, sort_words, "order rows by"),
	OPT_WORD(0, "sort", "WHAT", OPT_PS, sort, ps_words, "order rows by"),
	OPT_WORD(0, "sort", "WHAT", OPT_HEAP, sort, heap_sort_words, "order rows by"),
	OPT(0, "stacks", NULL, OPT_PRESSURE, flag, stacks,
	    "group by stack, the longest waits first"),
	OPT(0, "hosts", NULL, OPT_BY_ALL, flag, hosts,
	    "compare two groups of hosts: OLD/* NEW/*"),
	OPT(0, "outliers", NULL, OPT_TABLES, flag, outliers,
	    "name the hosts that differ from the rest, and why"),
	OPT(0, "hist", NULL, OPT_PRESSURE, flag, hist,
	    "histograms of latency, in powers of two"),
	OPT(0, "stacks", NULL, OPT_EACH, flag, stacks, "print the stacks of each event"),
	OPT(0, "linear", "STEP", OPT_HIST, size, linear,
	    "histograms in steps of STEP (default powers of two)"),
	OPT(0, "joint", NULL, OPT_HIST, flag, joint,
	    "one histogram of all events together"),
	OPT(0, "since", NULL, OPT_RSS, flag, since,
	    "only memory that became resident after the start"),
	OPT(0, "peak", NULL, OPT_LEAKS | OPT_LIVE, flag, peak,
	    "blocks that were live when most memory was"),
	OPT(0, "older", "MS", OPT_LIVE, millis, older,
	    "only blocks older than MS (milliseconds, or 2s)"),
	OPT(0, "show-reachable", NULL, OPT_LIVE, flag, show_reachable,
	    "also reachable blocks at the program's end"),
	OPT(0, "suppressions", "FILE", OPT_LIVE, texts, suppressions,
	    "hide leaks named in FILE (of LSan or Valgrind)"),
	OPT(0, "error-exitcode", "N", OPT_TRACE, exit_status, exitcode,
	    "exit with N if memory was lost"),
	OPT('T', "timestamps", NULL, OPT_RENDER | OPT_JSON | OPT_EACH | OPT_OOM | OPT_MONITOR,
	    flag, timestamps, "print the time of day"),
	OPT(0, "source-path", "FROM=TO", OPT_ANNOTATE, texts, source_paths,
	    "look for sources of FROM below TO"),
	OPT(0, "context", "N", OPT_ANNOTATE, number, context,
	    "show N lines around each hit (default 3)"),
	OPT(0, "at", "ADDRESS|FUNC", OPT_UNWIND, text, at,
	    "show the unwind entries of an address or a function"),
	OPT_WORD(0, "format", "NAME", OPT_FLAMES, format, format_words, "format"),
	OPT(0, "flame", "FILE", OPT_FLAMES, text, flame,
	    "also write a flame graph to FILE (HTML)"),
	OPT(0, "flame", "FILE", OPT_HEAP, text, flame,
	    "also write a flame graph of holders to FILE (HTML)"),
	OPT('r', "repeat", "N", OPT_REPEAT, positive, repeat,
	    "run N times, and print mean and deviation"),
	OPT(0, "json", NULL, OPT_JSON | OPT_UNWIND | OPT_SELFTEST | OPT_INTERVAL |
	    OPT_DOCTOR | OPT_OOM | OPT_MONITOR | OPT_HEAP | OPT_DIAGNOSE, flag, json,
	    "print JSON"),
	OPT(0, "to", "URL", OPT_PUSH, text, to,
	    "send to URL: Pyroscope's http://HOST:4040/ingest, or a POST"),
	OPT(0, "label", "NAME=VALUE", OPT_PUSH, texts, labels,
	    "add or replace a label; NAME= leaves one out"),
	OPT(0, "credentials", "FILE", OPT_PUSH, text, credentials,
	    "a file with user:password, or Bearer TOKEN"),
	OPT(0, "cacert", "FILE", OPT_PUSH, text, cacert,
	    "certificates to trust, instead of the system's"),
	OPT(0, "textfile", "DIR", OPT_METRICS, text, textfile,
	    "write to DIR/memtap.prom (node_exporter)"),
	OPT(0, "listen", "ADDRESS", OPT_METRICS, text, listen,
	    "serve HTTP at unix:PATH, 127.0.0.1:PORT or [::1]:PORT"),
	OPT('o', "output", "FILE", OPT_OUT, text, out,
	    "write to FILE; %p in it is the PID, %n a number"),
	OPT('o', "output", "DIR", OPT_DIAGNOSE, text, out,
	    "keep all that was seen in DIR and DIR.tar.gz"),
	OPT(0, "args", NULL, OPT_DIAGNOSE, flag, keep_args,
	    "-o: keep the arguments of processes, too"),
	OPT(0, "words", NULL, OPT_WORDS, flag, words, "print words for shell completion"),
	OPT('v', "verbose", NULL, OPT_RENDER | OPT_JSON, flag, verbose,
	    "always show the counts of lost and filtered events"),
	OPT('v', "verbose", NULL, OPT_WORDS, flag, verbose,
	    "describe advanced options of COMMAND, too"),
	OPT('q', "quiet", NULL, OPT_COMMON, flag, quiet,
	    "print only results, losses and errors"),
	OPT('h', "help", NULL, OPT_COMMON, flag, help, "print this help"),
#undef HEADING
#define HEADING OPT_HEAD_ADVANCED
	OPT(0, "drain", "TIME", OPT_DRAIN, seconds, drain,
	    "at the end wait TIME for frees: 10 (s), 2m"),
	OPT(0, "container", "ID|NAME", OPT_TARGET | OPT_OOM | OPT_MONITOR | OPT_PICK | OPT_PS,
	    texts, containers, "processes in this container"),
	OPT(0, "pod", "NAME|UID", OPT_TARGET | OPT_OOM | OPT_MONITOR | OPT_PICK | OPT_PS, texts,
	    pods, "processes in this Kubernetes pod"),
	OPT('D', "delay", "MS", OPT_RECORD | OPT_REPEAT, millis_some, delay,
	    "begin MS after the program (milliseconds, or 2s)"),
	OPT('x', "csv", "SEPARATOR", OPT_JSON | OPT_PS, separator, csv,
	    "print CSV: the fields of --json, as -x,"),
	OPT(0, "unix-time", NULL, OPT_EACH, flag, unix_time,
	    "print the time as seconds since 1970"),
	OPT(0, "switch-time", "TIME", OPT_RECORD, seconds, switch_time,
	    "begin a new file, FILE.2, every TIME: 10m, 1h"),
	OPT(0, "switch-size", "SIZE", OPT_RECORD, size, switch_size,
	    "begin a new file before one exceeds SIZE (K, M, G)"),
	OPT(0, "max-mem", "SIZE", OPT_RUN | OPT_SELFTEST, size, max_mem,
	    "let kernel tables take up to SIZE bytes (K, M, G)"),
	OPT(0, "max-mem", "SIZE", OPT_FLEET, size, max_mem,
	    "use up to SIZE bytes for rows (default 512M)"),
	OPT(0, "max-mem", "SIZE", OPT_HEAP, size, max_mem,
	    "--retained: use at most SIZE bytes beside the copy"),
	OPT(0, "retained", NULL, OPT_LEAKS, flag, retained,
	    "say what blocks are and what holds them; pauses"),
	OPT(0, "retained", NULL, OPT_RSS, flag, retained,
	    "say which blocks pages have, and what holds them"),
	OPT(0, "max-pause", "MS", OPT_LEAKS, millis_some, max_pause,
	    "--unreachable: pause for at most MS: 1000 (default), 2s"),
	OPT(0, "max-pause", "MS", OPT_HEAP | OPT_RSS, millis_some, max_pause,
	    "pause the process for at most MS: 1000 (default), 2s"),
	OPT(0, "swapped", NULL, OPT_LEAKS, flag, swapped,
	    "--unreachable: read swapped-out memory; swaps it in"),
	OPT(0, "swapped", NULL, OPT_HEAP, flag, swapped,
	    "read swapped-out memory, too; this swaps it in"),
	OPT(0, "min-size", "SIZE", OPT_SELECT | OPT_SIZES, size, min_size,
	    "only sizes of at least SIZE bytes (K, M, G)"),
	OPT(0, "max-size", "SIZE", OPT_SELECT | OPT_SIZES, size, max_size,
	    "only sizes of at most SIZE bytes (K, M, G)"),
	OPT(0, "percpu", NULL, OPT_KERNEL_LEAKS | OPT_RECORD, flag, percpu,
	    "-k: also per-CPU memory"),
	OPT(0, "keep", "N", OPT_RECORD, positive, keep,
	    "of --switch-time and -size: keep the last N files"),
	OPT(0, "since-mark", "NAME", OPT_MARKS, text, since_mark,
	    "only blocks allocated since `memtap mark NAME`"),
	OPT(0, "between", "FROM,UNTIL", OPT_MARKS | OPT_BETWEEN, text, between,
	    "only between two marks, or times: 10s,14:05:00"),
	OPT(0, "changed", NULL, OPT_CHANGES, flag, changed,
	    "only rows that changed since the last report"),
	OPT(0, "increased", NULL, OPT_CHANGES, flag, increased,
	    "only rows that grew since the last report"),
	OPT(0, "only-user", NULL, OPT_SELECT, flag, only_user,
	    "only events in user mode"),
	OPT(0, "only-kernel", NULL, OPT_SELECT, flag, only_kernel,
	    "only events in kernel mode"),
	OPT(0, "folded", NULL, OPT_FLAMES, flag, folded,
	    "one line per stack: outer;inner VALUE"),
	OPT(0, "stacks", NULL, OPT_TRACE, flag, stacks, "--trace: print the stack of each call"),
	OPT(0, "self", NULL, OPT_SELECT, flag, self, "include memtap's own activity"),
	OPT(0, "force", NULL, OPT_VALUE | OPT_DRAIN, flag, force,
	    "probe an unchecked offset; may crash the program"),
	OPT(0, "files", NULL, OPT_STACK, flag, files,
	    "one row for each file that events are about"),
	OPT(0, "depth", "N", OPT_STACK | OPT_WALK, positive, depth,
	    "record at most N frames per stack (default 127)"),
	{ 0, "unwind", "HOW", "unwind by tables (dwarf) or frame pointers (fp)",
	  OPT_STACK | OPT_WALK, unwind, offsetof(struct opts, unwind), unwind_words, HEADING },
	OPT(0, "jvm-maps", NULL, OPT_STACK | OPT_WALK, flag, jvm_maps,
	    "get symbols of compiled Java code at the end"),
	OPT(0, "mark", "NAME=EVENT", OPT_DRAIN, texts, marks,
	    "set the mark NAME at each such event"),
	OPT(0, "no-args", NULL, OPT_RECORD, flag, no_args,
	    "do not keep the program's arguments in FILE"),
	OPT(0, "deep", NULL, OPT_DIAGNOSE, flag, deep,
	    "record on if it takes more than 5 % of a CPU"),
	OPT(0, "alloc", "SPEC", OPT_LEAKS, texts, allocs,
	    "add an allocator, PATH:FUNC(size=arg1,ptr=ret)"),
	OPT(0, "free", "SPEC", OPT_LEAKS, texts, frees,
	    "add a free function, PATH:FUNC(ptr=arg1)"),
	OPT(0, "symbols-prefix", "PREFIX", OPT_LEAKS, text, prefix,
	    "add PREFIXmalloc, PREFIXfree ..."),
	OPT(0, "obj", "OBJECT", OPT_LEAKS, text, obj,
	    "only allocators of this program or library"),
	OPT(0, "spool", "DIR", OPT_PUSH, text, spool,
	    "where messages wait (default /var/lib/memtap/push/...)"),
	OPT(0, "max-spool", "SIZE", OPT_PUSH, size, max_spool,
	    "keep at most SIZE bytes that wait (default 64M)"),
	OPT(0, "rate", "SIZE", OPT_PUSH, size, rate,
	    "send at most SIZE bytes a minute (default 1M)"),
	OPT(0, "sample-bytes", "SIZE", OPT_LEAKS | OPT_KERNEL_LEAKS | OPT_PUSH, size, sample_bytes,
	    "sample one block per SIZE bytes; totals: estimates"),
	OPT(0, "sample-rate", "N", OPT_LEAKS | OPT_KERNEL_LEAKS, positive, sample_rate,
	    "sample one block in N; totals are estimates"),
	OPT(0, "free-stacks", NULL, OPT_LEAKS, flag, free_stacks,
	    "record stacks of frees, to explain double frees"),
	OPT(0, "no-free-stacks", NULL, OPT_LEAKS, flag, no_free_stacks,
	    "do not (default, except for a launched program)"),
	OPT(0, "no-pause", NULL, OPT_LEAKS, flag, no_hold,
	    "do not pause programs at dlopen(), execve(), exit"),
	OPT(0, "no-mappings", NULL, OPT_LEAKS, flag, no_mappings,
	    "do not follow mmap() and munmap()"),
	OPT(0, "all-pages", NULL, OPT_KERNEL_LEAKS | OPT_RECORD, flag, all_pages,
	    "-k: also movable pages (of programs, of files)"),
	OPT(0, "call-site", NULL, OPT_KERNEL_LEAKS | OPT_RECORD, flag, call_site,
	    "-k: record the caller, not the stack; cheaper"),
	OPT(0, "call-site", NULL, OPT_CACHES, flag, call_site,
	    "--waste: a row for each caller of kmalloc()"),
	OPT(0, "similar", NULL, OPT_KERNEL_LEAKS, flag, similar,
	    "-k: compare with older objects of the same cache"),
	OPT(0, "lines", NULL, OPT_RENDER, flag, lines,
	    "one row for each source line of a function"),
	OPT(0, "show-allocs", NULL, OPT_LIVE, flag, show_allocs, "list each live block"),
	OPT(0, "temporary", NULL, OPT_LEAKS | OPT_LIVE, flag, temporary,
	    "blocks freed before their thread allocated again"),
	OPT(0, "allocated", NULL, OPT_LEAKS | OPT_LIVE, flag, allocated,
	    "all that was allocated, freed or not"),
	OPT_WORD(0, "time-unit", "UNIT", OPT_FLAMES, time_unit, time_words, "massif: time by"),
	OPT(0, "alloc-fn", "FUNC", OPT_FLAMES, texts, alloc_fns,
	    "massif: FUNC only passes memory on ('*' is any text)"),
	OPT(0, "calls", NULL, OPT_CALLS, flag, calls,
	    "folded, flame: count calls, not bytes"),
	OPT(0, "blocks", NULL, OPT_LIVE, flag, blocks,
	    "folded, flame: count blocks, not bytes"),
	OPT(0, "addresses", NULL, OPT_RENDER | OPT_STACK, flag, addresses,
	    "one row for each address (page); show addresses"),
	OPT(0, "addresses", NULL, OPT_EACH, flag, addresses,
	    "--stacks: print the address of each frame"),
	OPT(0, "cumulative", NULL, OPT_DIST, flag, cumulative,
	    "with an interval: print counts since the start"),
	OPT(0, "addresses", NULL, OPT_HEAP, flag, addresses,
	    "show addresses of two blocks of each kind"),
	OPT(0, "gen-suppressions", NULL, OPT_LIVE, flag, gen_suppressions,
	    "print a suppression for each row, as Valgrind"),
	OPT(0, "show-loader", NULL, OPT_RENDER, flag, show_loader,
	    "show mappings of the dynamic linker, too"),
	OPT(0, "no-cache", NULL, OPT_UNWIND, flag, no_cache,
	    "build the unwind table anew; do not cache it"),
	OPT(0, "symbolize", NULL, OPT_SYMBOLIZE, flag, symbolize,
	    "look for missing names here; -o FILE.memtap: keep them"),
	OPT(0, "debug-dir", "DIR", OPT_SYMBOLIZE, text, debug_dir,
	    "--symbolize: debug files (default /usr/lib/debug)"),
	OPT(0, "history", NULL, OPT_TABLES, flag, history,
	    "without FILE: --by process, cgroup or cache over time"),
	OPT(0, "page", "FILE", OPT_TABLES, text, page,
	    "--history: also write a page over time to FILE"),
	OPT(0, "dir", "DIR", OPT_AT | OPT_HISTORY | OPT_TABLES | OPT_RULES | OPT_METRICS, text,
	    dir,
	    "directory of the history (default /var/lib/memtap)"),
	OPT(0, "max-size", "SIZE", OPT_HISTORY, size, max_size,
	    "keep at most SIZE bytes (default 256M)"),
	OPT(0, "max-age", "TIME", OPT_HISTORY, seconds, max_age,
	    "keep at most TIME (default 168h)"),
	OPT(0, "test", NULL, OPT_OOM, flag, test, "show a made-up record, for a look"),
#undef HEADING
};

/* opts.given has a bit for each */
_Static_assert(sizeof(opt_table) / sizeof(opt_table[0]) <= 64 * OPT_GIVEN, "too many options");

const size_t opt_nr = sizeof(opt_table) / sizeof(opt_table[0]);
