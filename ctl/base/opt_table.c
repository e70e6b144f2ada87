// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
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
	if (!*value)
		return -EINVAL;
	*(const char **)field(o, offset) = value;
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
	if (offset == offsetof(struct opts, older))
		o->older_given = true;
	if (offset == offsetof(struct opts, order))
		o->order_given = true;
	return 0;
}

static int positive(struct opts *o, size_t offset, const char *value,
		    const struct opt_def *def)
{
	const int ret = number(o, offset, value, def);

	return ret ? ret : *(__u32 *)field(o, offset) ? 0 : -EINVAL;
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

static int seconds(struct opts *o, size_t offset, const char *value,
		   const struct opt_def *def UNUSED)
{
	double v;

	if (!opt_seconds(value, &v) || v <= 0)
		return -EINVAL;
	*(double *)field(o, offset) = v;
	return 0;
}

static int minutes(struct opts *o, size_t offset, const char *value,
		   const struct opt_def *def UNUSED)
{
	double v;

	if (!opt_minutes(value, &v) || v < 1)
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

/* In the order of enum report_by, and of enum report_sort after its default. */
static const char *const by_words[] = {
	"process", "thread", "comm", "cgroup", "none", "program", NULL
};

/* The same, of rows. */
static const char *const row_words[] = {
	"process", "thread", "comm", "cgroup", "none", "program", "file", "mapping", "stack",
	"cache", "module", NULL
};

static const char *const sort_words[] = {
	"count", "value", "max", "age", "size", "slope", NULL
};

const char *const format_words[] = {
	"table", "folded", "flame", "json", "callgrind", "perf-script", "pprof", "massif",
	"speedscope", NULL
};

_Static_assert(sizeof(format_words) / sizeof(format_words[0]) == NR_FORMATS + 1,
	       "a format without a name");

/* In the order of enum opt_unwind. */
static const char *const unwind_words[] = { "auto", "rows", "fp", NULL };

/* One of the words, or else the name of an argument. */
static int by_what(struct opts *o, size_t offset, const char *value, const struct opt_def *def)
{
	if (!word(o, offset, value, def))
		return 0;
	o->by_arg = value;
	return *value ? 0 : -EINVAL;
}

#define OPT(letter, name, arg, groups, parse, member, help) \
	{ letter, name, arg, help, groups, parse, offsetof(struct opts, member), NULL }
#define OPT_WORD(letter, name, arg, groups, member, words, help) \
	{ letter, name, arg, help, groups, word, offsetof(struct opts, member), words }

/* No two groups have the same bit: their sum is then the same as all bits. */
_Static_assert((OPT_TARGET | OPT_RUN | OPT_SELECT | OPT_STACK | OPT_KINDS | OPT_RENDER |
	       OPT_FLAMES | OPT_OUT | OPT_PIDS | OPT_MMAP | OPT_BY | OPT_JSON | OPT_WORDS |
	       OPT_UNWIND | OPT_LEAKS | OPT_LIVE | OPT_TRACE | OPT_RECORD | OPT_CALLS |
	       OPT_SIZES | OPT_WALK | OPT_SELFTEST | OPT_INTERVAL | OPT_KERNEL_LEAKS |
	       OPT_DIST | OPT_HIST | OPT_VALUE | OPT_EACH | OPT_DOCTOR | OPT_OOM | OPT_MONITOR |
	       OPT_PRESSURE | OPT_SHM | OPT_FAULTS | OPT_CACHES | OPT_ORDER | OPT_NUMA | OPT_RSS |
	       OPT_CHANGES | OPT_STALE | OPT_MARKS | OPT_DRAIN | OPT_NONE) ==
	       (__u64)OPT_TARGET + OPT_RUN + OPT_SELECT + OPT_STACK + OPT_KINDS + OPT_RENDER +
	       OPT_FLAMES + OPT_OUT + OPT_PIDS + OPT_MMAP + OPT_BY + OPT_JSON + OPT_WORDS +
	       OPT_UNWIND + OPT_LEAKS + OPT_LIVE + OPT_TRACE + OPT_RECORD + OPT_CALLS +
	       OPT_SIZES + OPT_WALK + OPT_SELFTEST + OPT_INTERVAL + OPT_KERNEL_LEAKS +
	       OPT_DIST + OPT_HIST + OPT_VALUE + OPT_EACH + OPT_DOCTOR + OPT_OOM + OPT_MONITOR +
	       OPT_PRESSURE + OPT_SHM + OPT_FAULTS + OPT_CACHES + OPT_ORDER + OPT_NUMA + OPT_RSS +
	       OPT_CHANGES + OPT_STALE + OPT_MARKS + OPT_DRAIN + OPT_NONE,
	       "groups of options share a bit");

const struct opt_def opt_table[] = {
	OPT('p', "pid", "PID,...", OPT_TARGET | OPT_PIDS | OPT_OOM | OPT_MONITOR, ids, pids,
	    "these processes; list: the files that they map"),
	OPT(0, "tid", "TID,...", OPT_TARGET, ids, tids, "these threads; not with leaks"),
	OPT('c', "command", "CMD", OPT_TARGET, text, command,
	    "run CMD and watch it, as -- CMD ARGS does"),
	OPT('a', "all-processes", NULL, OPT_TARGET, flag, system,
	    "everything, as when nothing is chosen; not with leaks"),
	OPT(0, "comm", "NAME", OPT_TARGET | OPT_OOM | OPT_MONITOR, texts, comms,
	    "threads of this name"),
	OPT(0, "cgroup", "PATH|INODE", OPT_TARGET | OPT_OOM | OPT_MONITOR, texts, cgroups,
	    "processes in this cgroup and those below it"),
	OPT(0, "self", NULL, OPT_SELECT, flag, self,
	    "of everything: also what memtap does itself"),
	OPT(0, "children", NULL, OPT_TARGET, flag, children,
	    "also what the chosen processes fork"),
	OPT('d', "duration", "SECONDS", OPT_RUN | OPT_OOM | OPT_MONITOR, seconds, duration,
	    "stop after this time"),
	OPT(0, "max-mem", "SIZE", OPT_RUN | OPT_SELFTEST, size, max_mem,
	    "make tables as large as SIZE allows (K, M, G)"),
	OPT(0, "only-user", NULL, OPT_SELECT, flag, only_user,
	    "only events caused in user mode"),
	OPT(0, "only-kernel", NULL, OPT_SELECT, flag, only_kernel,
	    "only events caused in kernel mode"),
	OPT(0, "min-size", "SIZE", OPT_SELECT | OPT_SIZES, size, min_size,
	    "of events with a size: at least SIZE bytes (K, M, G)"),
	OPT(0, "max-size", "SIZE", OPT_SELECT | OPT_SIZES, size, max_size,
	    "of events with a size: at most SIZE bytes"),
	OPT(0, "filter", "CONDITION", OPT_SELECT | OPT_OOM | OPT_MONITOR, text, filter,
	    "only events whose arguments meet it: 'order > 2 && comm != \"x\"'"),
	OPT(0, "value", "NAME", OPT_VALUE, text, value,
	    "of events with arguments: which one is summed"),
	OPT(0, "force", NULL, OPT_VALUE | OPT_DRAIN, flag, force,
	    "probe a user offset that memtap cannot check; a wrong one crashes the program"),
	OPT(0, "snoop", NULL, OPT_MMAP, flag, snoop,
	    "print each call as it comes, with its arguments and result"),
	OPT(0, "all", NULL, OPT_MMAP, flag, all,
	    "show munmap too; of --snoop all calls about mappings"),
	OPT(0, "live", NULL, OPT_SHM, flag, live,
	    "who holds which shared memory now; needs no module"),
	OPT(0, "major", NULL, OPT_FAULTS, flag, major,
	    "only faults that waited for I/O, and how long they waited"),
	OPT(0, "huge", NULL, OPT_FAULTS, flag, huge,
	    "print what happens to huge pages as it comes: mapped, collapsed, split"),
	OPT(0, "since", NULL, OPT_RSS, flag, since,
	    "only what came since the start; what was there before is in the foot"),
	OPT(0, "stale", "MIN", OPT_STALE, minutes, stale,
	    "only what was not used for MIN minutes (30s, 2h: seconds, hours), by stack"),
	OPT(0, "numa", NULL, OPT_NUMA, flag, numa,
	    "of migrate: what NUMA balancing does, by process"),
	OPT(0, "files", NULL, OPT_STACK, flag, files,
	    "tell apart the files that events are about (shmem)"),
	OPT('U', "user", NULL, OPT_KINDS, flag, user, "user stacks"),
	OPT('K', "kernel", NULL, OPT_KINDS, flag, kernel, "kernel stacks"),
	OPT(0, "depth", "N", OPT_STACK | OPT_WALK, positive, depth,
	    "keep N frames of a stack at most"),
	OPT_WORD(0, "unwind", "HOW", OPT_STACK | OPT_WALK, unwind, unwind_words,
		 "follow user stacks by rows or fp (frame pointers)"),
	OPT(0, "jvm-maps", NULL, OPT_STACK | OPT_WALK, flag, jvm_maps,
	    "ask JVMs at the end what they call their code"),
	OPT(0, "hist", NULL, OPT_STACK, flag, hist,
	    "keep histograms of the value, in powers of two"),
	OPT_WORD(0, "by", "WHAT", OPT_BY, by, row_words,
		 "a row for each process, thread, comm, cgroup, program, file, mapping, none; "
		 "leaks -k: also stack, cache, module"),
	OPT(0, "stacks", NULL, OPT_PRESSURE, flag, stacks,
	    "by stack: who waits, the longest first"),
	OPT(0, "hist", NULL, OPT_PRESSURE, flag, hist,
	    "histograms of how long it took, in powers of two"),
	OPT(0, "stacks", NULL, OPT_EACH | OPT_TRACE, flag, stacks,
	    "print the stacks of each event (of each call of --trace), too"),
	OPT(0, "latency", NULL, OPT_EACH, flag, latency,
	    "of returns: also how long the call took, in ns"),
	{ 0, "by", "WHAT", "tell apart by the value of this argument, or by process, thread, comm",
	  OPT_DIST, by_what, offsetof(struct opts, by), by_words },
	OPT(0, "linear", "STEP", OPT_HIST, size, linear,
	    "histograms in steps of this size, not in powers of two"),
	OPT('T', "timestamps", NULL, OPT_RENDER | OPT_JSON | OPT_EACH | OPT_OOM | OPT_MONITOR,
	    flag, timestamps, "print the time of day"),
	OPT(0, "source-path", "FROM=TO", OPT_ANNOTATE, texts, source_paths,
	    "sources that were compiled below FROM are below TO"),
	OPT(0, "context", "N", OPT_ANNOTATE, number, context,
	    "show N lines around those with numbers (3)"),
	OPT(0, "top", "N", OPT_ANNOTATE | OPT_RENDER | OPT_DIST | OPT_PRESSURE | OPT_CACHES |
	    OPT_HEAP,
	    number, top,
	    "show the N largest rows; 0: all"),
	OPT_WORD(0, "sort", "WHAT", OPT_RENDER, sort, sort_words,
		 "order by count, value, max; leaks: size, count, age, slope"),
	OPT(0, "drain", "SECONDS", OPT_DRAIN, seconds, drain,
	    "leaks: at the end wait so long, while what is new is not kept"),
	OPT(0, "mark", "NAME=EVENT", OPT_DRAIN, texts, marks,
	    "leaks: each time this event happens, the mark NAME is set anew"),
	OPT(0, "since-mark", "NAME", OPT_MARKS, text, since_mark,
	    "leaks: only what was born after `memtap mark NAME`"),
	OPT(0, "between", "NAME,NAME", OPT_MARKS, text, between,
	    "leaks: only what was born between these two marks"),
	OPT(0, "changed", NULL, OPT_CHANGES, flag, changed,
	    "only rows that changed since the last report, as tables at intervals have"),
	OPT(0, "increased", NULL, OPT_CHANGES, flag, increased,
	    "only rows that grew since the last report"),
	OPT(0, "lines", NULL, OPT_RENDER, flag, lines,
	    "tell apart lines of a function, too"),
	OPT(0, "calls", NULL, OPT_CALLS, flag, calls,
	    "folded, flame: calls, not bytes"),
	OPT(0, "addresses", NULL, OPT_RENDER | OPT_STACK, flag, addresses,
	    "show and tell apart addresses (of pages)"),
	OPT(0, "leaks", NULL, OPT_RECORD, flag, leaks,
	    "record what is allocated and not freed"),
	OPT(0, "alloc", "SPEC", OPT_LEAKS, texts, allocs,
	    "also PATH:FUNC(size=arg1,ptr=ret) hands out memory"),
	OPT(0, "free", "SPEC", OPT_LEAKS, texts, frees,
	    "also PATH:FUNC(ptr=arg1) takes it back"),
	OPT(0, "symbols-prefix", "PREFIX", OPT_LEAKS, text, prefix,
	    "also PREFIXmalloc, PREFIXfree ..."),
	OPT(0, "obj", "OBJECT", OPT_LEAKS, text, obj,
	    "only allocators of this program or library"),
	OPT(0, "sample-bytes", "SIZE", OPT_LEAKS | OPT_KERNEL_LEAKS, size, sample_bytes,
	    "keep about a block for each SIZE bytes, and estimate"),
	OPT(0, "sample-rate", "N", OPT_LEAKS | OPT_KERNEL_LEAKS, positive, sample_rate,
	    "keep one block in N, and estimate"),
	OPT(0, "free-stacks", NULL, OPT_LEAKS, flag, free_stacks,
	    "remember who freed a block, in case it is freed again"),
	OPT(0, "no-free-stacks", NULL, OPT_LEAKS, flag, no_free_stacks,
	    "do not remember it; else, where a program is run, it is"),
	OPT(0, "no-hold", NULL, OPT_LEAKS, flag, no_hold,
	    "nobody waits for us at dlopen() and _exit()"),
	OPT(0, "no-mappings", NULL, OPT_LEAKS, flag, no_mappings,
	    "do not follow mmap() and munmap()"),
	OPT(0, "reach", NULL, OPT_LEAKS, flag, reach,
	    "of a process that runs: which blocks are lost; it is stopped meanwhile"),
	OPT(0, "no-reach", NULL, OPT_HEAP, flag, no_reach,
	    "do not look for blocks that nothing leads to"),
	OPT(0, "max-pause", "MS", OPT_LEAKS | OPT_HEAP, positive, max_pause,
	    "with --reach, and heap: stopped for no longer than that (1000)"),
	OPT('k', "kernel-memory", NULL, OPT_KERNEL_LEAKS | OPT_RECORD, flag, kernel_memory,
	    "leaks: of the kernel itself, as when nobody is chosen"),
	OPT(0, "cache", "PATTERN", OPT_KERNEL_LEAKS | OPT_RECORD | OPT_CACHES, text, cache,
	    "of the kernel's objects: only those of these caches: 'kmalloc-*'"),
	OPT(0, "module", "NAME", OPT_KERNEL_LEAKS | OPT_RECORD, text, module,
	    "leaks -k: only what this module's code asked for"),
	OPT(0, "order", "N", OPT_KERNEL_LEAKS | OPT_RECORD | OPT_ORDER, number, order,
	    "of the kernel's memory: only pages, in blocks of order N"),
	OPT(0, "all-pages", NULL, OPT_KERNEL_LEAKS | OPT_RECORD, flag, all_pages,
	    "leaks -k: also pages that may be moved: programs', files'"),
	OPT(0, "percpu", NULL, OPT_KERNEL_LEAKS | OPT_RECORD, flag, percpu,
	    "leaks -k: also memory of which each processor has its own"),
	OPT(0, "call-site", NULL, OPT_KERNEL_LEAKS | OPT_RECORD, flag, call_site,
	    "leaks -k: who called the allocator, not the stack: cheaper"),
	OPT(0, "similar", NULL, OPT_KERNEL_LEAKS, flag, similar,
	    "leaks -k: at the end, what was there before and looks alike"),
	OPT(0, "census", NULL, OPT_KERNEL_LEAKS, flag, census,
	    "leaks -k: which kind of kernel memory grows; needs no module"),
	OPT(0, "trace", NULL, OPT_TRACE, flag, trace, "print every call"),
	OPT(0, "error-exitcode", "N", OPT_TRACE, exit_status, exitcode,
	    "exit with N where memory was lost"),
	OPT(0, "older", "MS", OPT_LIVE, number, older,
	    "leaks: only blocks of at least this age"),
	OPT(0, "show-allocs", NULL, OPT_LIVE, flag, show_allocs,
	    "leaks: show each block"),
	OPT(0, "show-reachable", NULL, OPT_LIVE, flag, show_reachable,
	    "leaks: also what is still reachable at the end"),
	OPT(0, "show-loader", NULL, OPT_RENDER, flag, show_loader,
	    "show also what the dynamic linker maps"),
	OPT(0, "blocks", NULL, OPT_LIVE, flag, blocks,
	    "leaks, folded, flame: blocks, not bytes"),
	OPT(0, "suppressions", "FILE", OPT_LIVE, texts, suppressions,
	    "leaks: not what FILE names (as LeakSanitizer's)"),
	OPT_WORD(0, "format", "NAME", OPT_FLAMES, format, format_words,
		 "write what other programs read, see memtap(8)"),
	OPT(0, "folded", NULL, OPT_FLAMES, flag, folded,
	    "a line for each stack, outer;inner VALUE"),
	OPT(0, "flame", "FILE", OPT_FLAMES, text, flame,
	    "also write a flame graph (HTML)"),
	OPT(0, "at", "ADDRESS|FUNC", OPT_UNWIND, text, at,
	    "the row at an address of the file, or those of a function"),
	OPT(0, "no-cache", NULL, OPT_UNWIND, flag, no_cache,
	    "make the table anew, and do not keep it"),
	OPT(0, "last", "N", OPT_OOM, positive, last,
	    "the last N that the module has kept; do not wait"),
	OPT(0, "exec", "PROGRAM", OPT_MONITOR, text, exec,
	    "run PROGRAM at each event, with its line as standard input"),
	OPT(0, "test", NULL, OPT_OOM, flag, test, "show a record that was made by hand"),
	OPT(0, "json", NULL, OPT_JSON | OPT_UNWIND | OPT_SELFTEST | OPT_INTERVAL |
	    OPT_DOCTOR | OPT_OOM | OPT_MONITOR | OPT_HEAP, flag, json,
	    "print JSON"),
	OPT('o', "output", "FILE", OPT_OUT, text, out, "write to FILE"),
	OPT(0, "words", NULL, OPT_WORDS, flag, words,
	    "only the words that can follow, for completion"),
	OPT('v', "verbose", NULL, OPT_RENDER | OPT_JSON, flag, verbose,
	    "show all accounts, also where nothing was lost"),
	OPT('q', "quiet", NULL, OPT_COMMON, flag, quiet,
	    "print nothing but results, their losses, and errors"),
	OPT('h', "help", NULL, OPT_COMMON, flag, help, "print this"),
};

/* opts.given has a bit for each */
_Static_assert(sizeof(opt_table) / sizeof(opt_table[0]) <= 128, "too many options");

const size_t opt_nr = sizeof(opt_table) / sizeof(opt_table[0]);
