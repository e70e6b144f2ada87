/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _OPT_H
#define _OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <linux/types.h>

/*
 * Options of all commands: one table for parsing, help, completion and the
 * check of the manual.  A letter means the same in every command.
 */
#define OPT_TARGET	(1ULL << 0)	/* whom to watch */
#define OPT_RUN		(1ULL << 1)	/* how long, [interval [count]] */
#define OPT_SELECT	(1ULL << 2)	/* which events count */
#define OPT_STACK	(1ULL << 3)	/* what is kept of each */
#define OPT_KINDS	(1ULL << 4)	/* user, kernel stacks */
#define OPT_RENDER	(1ULL << 5)	/* how it is shown */
#define OPT_FLAMES	(1ULL << 6)	/* further renderings of stacks */
#define OPT_OUT		(1ULL << 7)
#define OPT_PIDS	(1ULL << 8)	/* -p without the rest of OPT_TARGET */
#define OPT_MMAP	(1ULL << 9)
#define OPT_BY		(1ULL << 10)
#define OPT_JSON	(1ULL << 11)
#define OPT_WORDS	(1ULL << 12)	/* of `memtap help` */
#define OPT_UNWIND	(1ULL << 13)	/* of `memtap unwind` */
#define OPT_LEAKS	(1ULL << 14)	/* which blocks are followed, and how */
#define OPT_LIVE	(1ULL << 15)	/* how those that are not freed are shown */
#define OPT_TRACE	(1ULL << 16)	/* of `memtap leaks` alone */
#define OPT_RECORD	(1ULL << 17)	/* of `memtap record` */
#define OPT_CALLS	(1ULL << 18)	/* how calls are shown */
#define OPT_SIZES	(1ULL << 19)	/* which sizes count */
#define OPT_WALK	(1ULL << 20)	/* how stacks are followed */
#define OPT_SELFTEST	(1ULL << 21)	/* of `memtap selftest` */
#define OPT_INTERVAL	(1ULL << 22)	/* [interval [count]] without the rest of OPT_RUN */
#define OPT_KERNEL_LEAKS (1ULL << 23)	/* of `memtap leaks -k` */
#define OPT_DIST	(1ULL << 24)	/* of `memtap count` and `memtap hist` */
#define OPT_HIST	(1ULL << 25)	/* of `memtap hist` */
#define OPT_VALUE	(1ULL << 26)	/* of events that are named: an argument as value */
#define OPT_EACH	(1ULL << 27)	/* of `memtap trace` */
#define OPT_OOM		(1ULL << 28)	/* of `memtap oom` */
#define OPT_MONITOR	(1ULL << 29)	/* of `memtap monitor` */
#define OPT_DOCTOR	(1ULL << 30)	/* --json without the rest of OPT_JSON */
#define OPT_PRESSURE	(1ULL << 31)	/* of `memtap reclaim` and those like it */
#define OPT_SHM		(1ULL << 32)	/* of `memtap shm` */
#define OPT_PS		(1ULL << 50)	/* of `memtap ps` */
#define OPT_FAULTS	(1ULL << 33)	/* of `memtap faults` */
#define OPT_CHANGES	(1ULL << 39)	/* what is shown of two reports that are compared */
#define OPT_MARKS	(1ULL << 59)	/* of blocks: when they were born */
#define OPT_DRAIN	(1ULL << 60)	/* what a session of blocks does about them */
#define OPT_ANNOTATE	(1ULL << 54)	/* of `memtap annotate` */
#define OPT_NUMA	(1ULL << 56)	/* of `memtap migrate`, and of record */
#define OPT_FLEET	(1ULL << 42)	/* any number of recordings, read one after the other */
#define OPT_CACHES	(1ULL << 43)	/* of `memtap slab` */
#define OPT_ORDER	(1ULL << 44)	/* of `memtap pages` */
#define OPT_HEAP	(1ULL << 45)	/* of `memtap heap` */
#define OPT_RSS		(1ULL << 48)	/* of `memtap rss` */
#define OPT_STALE	(1ULL << 61)	/* of those that know what is used */
#define OPT_BY_LEAKS	(1ULL << 34)	/* --by, of `memtap leaks` */
#define OPT_BY_SUMS	(1ULL << 35)	/* --by, of `memtap vmscan` and those like it */
#define OPT_BY_TASKS	(1ULL << 36)	/* --by, of events that are about no file */
#define OPT_BY_ALL	(1ULL << 37)	/* of `memtap diff`: --by, and groups of hosts */
#define OPT_METRICS	(1ULL << 40)	/* of `memtap metrics` */
#define OPT_PUSH	(1ULL << 41)	/* of `memtap push` */
#define OPT_ALL		(1ULL << 38)	/* targets that leaks does not have: threads, everything */
#define OPT_LIST	(1ULL << 58)	/* of `memtap list` */
#define OPT_PICK	(1ULL << 53)	/* which rows of a recording */
#define OPT_BETWEEN	(1ULL << 57)	/* the same, by time; of blocks also by marks */
#define OPT_TABLES	(1ULL << 55)	/* further tables of a recording */
#define OPT_AT		(1ULL << 49)	/* a moment of the history, instead of now */
#define OPT_HISTORY	(1ULL << 62)	/* of `memtap history` */
#define OPT_SYMBOLIZE	(1ULL << 46)	/* names of a recording, from this machine */
#define OPT_RULES	(1ULL << 47)	/* of `memtap watch` */
#define OPT_REPEAT	(1ULL << 51)	/* of `memtap stat` */
#define OPT_DIAGNOSE	(1ULL << 52)	/* of `memtap diagnose` */
#define OPT_ANY_BY	(OPT_BY | OPT_BY_LEAKS | OPT_BY_SUMS | OPT_BY_TASKS | OPT_BY_ALL)

#define OPT_MAX_LIST	1024		/* items of a list */
#define OPT_MAX_ID	0x7fffffff	/* of a process, or a thread */
#define OPT_ERR		256
#define OPT_GIVEN	3		/* words of opts.given */

/* In the order of `memtap CMD --help`. */
enum opt_heading {
	OPT_HEAD_TARGET, OPT_HEAD_RECORD, OPT_HEAD_DURATION, OPT_HEAD_OUTPUT, OPT_HEAD_ADVANCED,
	NR_OPT_HEADS
};

struct opt_nums {
	size_t nr;
	__u32 at[OPT_MAX_LIST];
};

struct opt_strs {
	size_t nr;
	const char *at[OPT_MAX_LIST];
};

/*
 * PROGRAM: processes of one name, whatever their threads are called.  FILE: that the events
 * are about, whoever did it.  MAPPING: those, and kinds of memory that is in none.  STACK, CACHE,
 * MODULE: of the kernel's memory.  FUNCTION, DSO, EVENT: tables of a recording.  CONTAINER: what
 * the path of the cgroup names.  SERVICE: a program in a cgroup (`memtap push`).  HOST: the
 * machine, of recordings that were merged.
 */
enum report_by { BY_PROCESS, BY_THREAD, BY_COMM, BY_CGROUP, BY_NONE, BY_PROGRAM,
		 BY_FILE, BY_MAPPING, BY_STACK, BY_CACHE, BY_MODULE, BY_USER,
		 BY_FUNCTION, BY_DSO, BY_EVENT, BY_CONTAINER, BY_SERVICE, BY_HOST };

/* Of the kernel's memory alone. */
static inline bool opt_by_kernel(int by)
{
	return by >= BY_STACK && by <= BY_MODULE;
}

/* AGE: of the oldest block.  SIZE is VALUE, as --sort calls it of blocks. */
enum report_sort { SORT_DEFAULT, SORT_COUNT, SORT_VALUE, SORT_MAX, SORT_AGE, SORT_SIZE,
		   SORT_SLOPE, SORT_FUNCTION, SORT_DSO, SORT_COMM, SORT_THREAD, SORT_EVENT,
		   SORT_SELF, SORT_TOTAL };

/*
 * What `memtap ps` sums up, in bytes, in the order of its columns; --sort takes their names.
 * PSS: shared pages divided among processes.  USS: those of one process alone.
 */
enum ps_sum { PS_PSS, PS_RSS, PS_USS, PS_SWAP_PSS, PS_SWAP, PS_ANON, PS_DIRTY, PS_REFERENCED,
	      PS_HUGE, PS_LAZY, PS_KSM, PS_LOCKED, PS_HUGETLB, PS_TABLES, PS_SIZE, NR_PS_SUMS };

/* How a report looks; in the order of format_words[], which are --format's. */
enum report_format {
	FORMAT_TABLE, FORMAT_FOLDED, FORMAT_FLAME, FORMAT_JSON, FORMAT_CALLGRIND,
	FORMAT_PERF_SCRIPT, FORMAT_PPROF, FORMAT_MASSIF,
	FORMAT_SPEEDSCOPE, FORMAT_XML, FORMAT_HEAPTRACK, FORMAT_PERF_DATA,
	NR_FORMATS
};

extern const char *const format_words[];
extern const char *const ps_words[];	/* of enum ps_sum */

/* One document is one report: there are no intervals in it. */
#define FORMATS_SINGLE	(1U << FORMAT_FLAME | 1U << FORMAT_CALLGRIND | \
			 1U << FORMAT_PPROF | 1U << FORMAT_SPEEDSCOPE | \
			 1U << FORMAT_XML | 1U << FORMAT_HEAPTRACK | 1U << FORMAT_PERF_DATA)

/* Each interval shows all there is then, not what came since the last one. */
#define FORMATS_WHOLE	(1U << FORMAT_MASSIF)

/* Massif's time: of a clock, or bytes allocated and freed so far. */
enum opt_time { TIME_MS, TIME_BYTES };

/* How user stacks are followed. */
enum opt_unwind { UNWIND_AUTO, UNWIND_ROWS, UNWIND_FP };

struct opts {
	const char *line;		/* the command line as it was given, for reports */
	__u64 given[OPT_GIVEN];	/* which, by their place in opt_table */
	const char *unknown;	/* an option that this command does not have, or NULL */
	char letter[2];			/* where it is one */
	bool help, quiet, verbose, words;
	bool system, self, children;
	bool user, kernel, only_user, only_kernel, jvm_maps;
	bool lines, timestamps, unix_time, joint, folded, json, calls, hist, addresses, all, files;
	struct opt_nums pids, tids;
	struct opt_strs comms, cgroups, containers, pods;
	const char *command;		/* -c */
	char **argv;			/* what follows --, or -c split; or NULL */
	char **split;			/* to be freed: what -c became */
	double duration, interval;	/* seconds; 0: not given */
	const char *interval_text;	/* as it was given, or NULL */
	double stale;			/* the same */
	const char *unsure;		/* the interval, where it stands right behind -p PID or
					 * --tid TID and may be one more of them; or NULL */
	struct opt_nums more_ids;	/* arguments right behind these that can be nothing else,
					 * and were added to them */
	__u32 count, depth, top;
	bool top_given, older_given;
	__u64 min_size, max_size, max_mem;
	bool gen_suppressions, regex;
	bool peak, temporary, allocated;	/* of blocks */
	bool leaks, trace, show_allocs, show_reachable, show_loader, blocks;
	bool free_stacks, no_free_stacks, no_hold, no_mappings, reach, no_reach, since;
	bool swapped, retained;
	const char *path, *core, *exe, *save;	/* of `memtap heap` */
	__u32 max_pause;		/* ms; 0: not given */
	bool kernel_memory, census, similar, call_site, percpu, all_pages, order_given;
	__u32 order;			/* of pages */
	const char *cache, *module;	/* of the kernel's memory */
	__u32 older, sample_rate, exitcode;
	__u64 sample_bytes;
	const char *obj, *prefix;
	struct opt_strs allocs, frees, suppressions;
	int by, sort;			/* enum report_by, report_sort; -1: not given */
	int format;			/* enum report_format; -1: not given, until all is parsed */
	int time_unit;			/* enum opt_time; -1: not given */
	struct opt_strs alloc_fns;
	int unwind;			/* enum opt_unwind */
	bool no_cache;
	const char *at;
	const char *out, *flame;
	bool out_later, flame_later;	/* OUT_NAME_* in it: out_name_make() when these are known */
	bool out_numbered;		/* each report has a file of its own: %n */
	char *made[2];			/* to be freed: what they became */
	const char *filter, *value;
	bool force;
	struct opt_strs dsos, symbols, events;	/* patterns: of a report */
	bool symbolize;			/* of `memtap report` */
	const char *debug_dir;
	const char *csv;		/* CSV: what stands between columns; or NULL */
	bool history;			/* of `memtap report` */
	const char *dir, *page;		/* of the history */
	const char *config;		/* rules */
	struct opt_strs whens, dos;	/* the same, by hand */
	double max_age;			/* seconds; 0: not given */
	__u32 repeat;			/* of `memtap stat` */
	bool cumulative;		/* of intervals */
	__u32 delay;			/* ms, before it is recorded */
	double switch_time;		/* seconds of a file; 0: one file */
	__u64 switch_size;		/* bytes of a file; 0: any */
	__u32 keep;			/* so many of these; 0: all */
	double min_percent;
	bool no_stacks;
	bool stacks, latency, snoop, live, huge, major, numa;
	bool changed, increased;
	double drain;			/* seconds; 0: not given */
	const char *since_mark, *between;	/* names of marks */
	struct opt_strs marks;		/* NAME=EVENT */
	bool test;
	__u32 last;
	const char *log;		/* of `memtap oom`: a file */
	const char *exec;
	const char *textfile, *listen;	/* of `memtap metrics` */
	const char *to, *spool, *credentials, *cacert;	/* of `memtap push` */
	__u64 max_spool, rate;		/* bytes; bytes a minute; 0: not given */
	struct opt_strs labels;
	const char *by_arg;		/* --by NAME, of an argument */
	struct opt_strs source_paths;	/* of `memtap annotate` */
	__u32 context;
	bool waste;
	bool deep;			/* of `memtap diagnose` */
	bool keep_args, no_args;	/* of programs, in what is kept */
	struct opt_strs users;		/* of `memtap ps` */
	__u32 map;			/* a process whose mappings are listed; 0: not given */
	__u64 linear;
	__u32 max_events, string_size;
	bool hosts, outliers;		/* of many recordings: groups of machines, odd ones */
	struct opt_strs args;		/* the rest, */
	const char **more_args;		/* and with OPT_FLEET those there is no room for; */
	size_t nr_more_args;
	size_t first_args;		/* with OPT_BY_ALL: those before a "--"; 0: there is none */
	size_t behind[OPT_MAX_LIST];	/* of args: offset of the list behind whose value it
					 * stands, in struct opts; or 0 */
};

struct opt_def {
	char letter;			/* or 0 */
	const char *name;
	const char *arg;		/* NULL: a flag */
	const char *help;
	__u64 groups;
	int (*parse)(struct opts *o, size_t offset, const char *value,
		     const struct opt_def *def);
	size_t offset;			/* in struct opts */
	const char *const *words;	/* values, where only some are allowed */
	int heading;			/* enum opt_heading */
};

extern const struct opt_def opt_table[];
extern const size_t opt_nr;

/* Does it take numbers of processes or threads? */
bool opt_is_ids(const struct opt_def *def);

/* A whole number; one from 1 on? */
bool opt_is_number(const struct opt_def *def);
bool opt_is_positive(const struct opt_def *def);

/* An option of all commands? (-h, -q) */
#define OPT_COMMON	(~0ULL)
#define OPT_NONE	(1ULL << 63)	/* a command with no others */

void opt_init(struct opts *o);
void opt_free(struct opts *o);

/*
 * Parse argv[1..] with the options of @groups.  Everything points into @argv.
 * Returns 0, or -EINVAL with a sentence in @err.  --help ends the parsing.
 */
int opt_parse(__u64 groups, int argc, char **argv, struct opts *o,
	      char err[OPT_ERR]);

/* At most @rows lines, if @rows is not 0: then the last heading has names alone. */
void opt_print_help(__u64 groups, const char *cmd, size_t rows, FILE *out);
/* Is there an option of this name (or letter: one character) among those of @groups? */
bool opt_has(__u64 groups, const char *name);
/* The one that @name may be a slip for, or NULL; valid as long as @l is. */
struct text_like;
const char *opt_like(__u64 groups, const char *name, struct text_like *l);
/* "-p" and "--pid", one a line; and "--by process" or "--pid <PID,...>" for values. */
void opt_print_words(__u64 groups, FILE *out);

/* Numbers; all or nothing.  Return false where the text is anything else. */
bool opt_u64(const char *s, __u64 *v);		/* decimal, 0x, no sign */
bool opt_size(const char *s, __u64 *v);		/* 64K, 1M, 2G, 1T */
/* A time in seconds: with a unit (ms, s, m, min, h), or without one @unit seconds. */
bool opt_time(const char *s, double unit, double *v);
bool opt_seconds(const char *s, double *v);	/* 2, 0.5, 500ms, 2m */

/* With OPT_FLEET: how many arguments there are, and each of them. */
size_t opt_nr_args(const struct opts *o);
const char *opt_arg(const struct opts *o, size_t i);

/*
 * The first option that was given, but which a command with the options of @groups
 * would not have: its name.  NULL: there is none.
 */
const char *opt_foreign(const struct opts *o, __u64 groups);

/*
 * Split a command line into words as a shell does with quotes and backslashes,
 * and nothing else: NULL-terminated, one block for free().  -EINVAL: not
 * closed, empty, or shell syntax that would be lost; says so in @err.
 */
int opt_split(const char *line, char ***argv, char err[OPT_ERR]);

#endif
