// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of commands, and main(): runs the command that is named. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/limit.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/help.h"
#include "selftest/selftest.h"
#include "target/containers.h"
#include "target/target.h"
#include "top/top.h"

#define WATCH	(OPT_TARGET | OPT_ALL | OPT_RUN | OPT_SELECT)
#define NAMED	(WATCH | OPT_VALUE)
#define ROWS	(WATCH | OPT_STACK | OPT_KINDS | OPT_RENDER | OPT_CALLS | OPT_FLAMES | \
		 OPT_JSON | OPT_OUT)
#define STACKS	(ROWS | OPT_BY)

#define PRESSURE	(WATCH | OPT_KINDS | OPT_BY_SUMS | OPT_JSON | OPT_OUT | OPT_PRESSURE)

static int cmd_help(const struct cmd *cmd, struct opts *o);
static int unknown_cmd(const char *name);

static const struct cmd commands[] = {
	{ "triage", "[interval [count]]",
	  "Summarize memory use and pressure; suggest the next command",
	  OPT_INTERVAL | OPT_AT, cmd_triage, NULL },
	{ "diagnose", "[-d TIME] [-p PID] [--cgroup PATH] [-o DIR]",
	  "Find what uses memory here, record the code, and say why",
	  OPT_DIAGNOSE | OPT_PIDS, cmd_diagnose, NULL },
	{ "top", "[-p PID] [interval [count]]",
	  "Watch processes by memory growth, live; Enter shows stacks",
	  OPT_INTERVAL | OPT_PIDS | OPT_AT, cmd_top, NULL },
	{ "ps", "[PATTERN] [options] [interval [count]] | --map PID [options]",
	  "Show memory of processes, programs, users, cgroups or mappings",
	  OPT_PS | OPT_PIDS | OPT_INTERVAL | OPT_OUT, cmd_ps, NULL },
	{ "doctor", "[--json]",
	  "Check whether memtap can run here, and how to fix what is missing",
	  OPT_DOCTOR, cmd_doctor, NULL },
	{ "oom", "[--last N] [--log FILE] [options]", "Explain OOM kills: victim, trigger, cause",
	  OPT_OOM | OPT_AT, cmd_oom, NULL },
	{ "history", "start [interval] [options] | status | list",
	  "Record the machine's memory for --at of other commands",
	  OPT_HISTORY, cmd_history, NULL },
	{ "watch", "--when CONDITION --do ACTION [options] [interval]",
	  "Record by itself when memory is short or something grows",
	  OPT_RULES, cmd_rules, NULL },
	{ "monitor", "[--exec PROGRAM] [options]",
	  "Print JSON at an OOM kill, a long stall, or a full memtap table",
	  OPT_MONITOR, cmd_monitor, NULL },
	{ "metrics", "[--top N] | --textfile DIR [options] [interval [count]] | "
	  "--listen ADDRESS [options]",
	  "Print memory metrics for Prometheus and other collectors",
	  OPT_METRICS, cmd_metrics, NULL },
	{ "stacks", "EVENT... [options] [interval [count]] [-- CMD ARGS]",
	  "Count events by stack", STACKS | OPT_VALUE, cmd_watch,
	  &question_stacks },
	{ "faults", "[options] [interval [count]] [-- CMD ARGS]",
	  "Count page faults by stack, file or mapping", STACKS | OPT_VALUE | OPT_FAULTS,
	  cmd_watch, &question_faults },
	{ "rss", "[options] [interval [count]] [-- CMD ARGS]",
	  "Show resident memory (RSS) by the stack that mapped it",
	  STACKS | OPT_RSS | OPT_CHANGES | OPT_STALE,
	  cmd_watch,
	  &question_rss },
	{ "brk", "[options] [interval [count]] [-- CMD ARGS]",
	  "Show growth of the heap by stack", ROWS | OPT_BY_TASKS, cmd_watch, &question_brk },
	{ "mmap", "[options] [interval [count]] [-- CMD ARGS]",
	  "Show growth of mappings by stack: mmap, mremap, mprotect",
	  ROWS | OPT_BY_TASKS | OPT_MMAP,
	  cmd_watch, &question_mmap },
	{ "shmem", "[options] [interval [count]] [-- CMD ARGS]",
	  "Show growth of shared memory by stack and file: tmpfs, memfd", STACKS, cmd_watch,
	  &question_shmem },
	{ "shm", "[options] [-- CMD ARGS] | --live",
	  "Print shared memory calls; list shared memory and its users",
	  WATCH | OPT_KINDS | OPT_WALK | OPT_OUT | OPT_EACH | OPT_JSON | OPT_SHM, cmd_shm,
	  &question_shm },
	{ "leaks", "-p PID [options] [interval [count]] | [options] -- CMD ARGS | "
	  "-k [options] [interval [count]]",
	  "Find memory that is allocated and never freed, by stack",
	  OPTS_FOLLOW | OPT_BY_LEAKS | OPT_RENDER | OPT_FLAMES | OPT_JSON | OPT_OUT | OPT_LIVE |
	  OPT_TRACE |
	  OPT_KERNEL_LEAKS | OPT_CHANGES | OPT_STALE | OPT_MARKS | OPT_DRAIN, cmd_leaks,
	  &question_leaks },
	{ "heap", "PID|FILE [options] [interval [count]]",
	  "Inspect a process's malloc heap: what is in it, what holds it",
	  OPT_HEAP | OPT_PIDS | OPT_OUT, cmd_heap, NULL },
	{ "mark", "NAME [-p PID]", "Set a named mark in a running `memtap leaks`",
	  OPT_PIDS, cmd_mark, NULL },
	{ "slab", "[--cache PATTERN] [--waste] [options] [interval [count]]",
	  "Show slab caches each second: allocations, frees, growth",
	  OPT_RUN | OPT_CACHES | OPT_JSON | OPT_OUT, cmd_slab, &question_slab },
	{ "pages", "[--order N] [options] [interval [count]]",
	  "Show page allocations each second by order, or by stack",
	  OPT_RUN | OPT_ORDER | OPT_RENDER | OPT_FLAMES | OPT_JSON | OPT_OUT, cmd_pages,
	  &question_pages },
	{ "stat", "[EVENT...] [options] [interval [count]] [-- CMD ARGS]",
	  "Count events each second, without stacks",
	  NAMED | OPT_JSON | OPT_OUT | OPT_REPEAT, cmd_watch, &question_stat },
	{ "count", "EVENT... [options] [interval [count]] [-- CMD ARGS]",
	  "Count the values of an event's argument",
	  NAMED | OPT_DIST | OPT_FLAMES | OPT_JSON | OPT_OUT, cmd_watch, &question_count },
	{ "hist", "EVENT... [options] [interval [count]] [-- CMD ARGS]",
	  "Show histograms of an argument or of a call's latency",
	  NAMED | OPT_DIST | OPT_HIST | OPT_FLAMES | OPT_JSON | OPT_OUT, cmd_watch,
	  &question_hist },
	{ "trace", "EVENT... [options] [-- CMD ARGS]",
	  "Print each event with its arguments",
	  WATCH | OPT_KINDS | OPT_WALK | OPT_OUT | OPT_EACH,
	  cmd_watch, &question_trace },
	{ "reclaim", "[options] [-- CMD ARGS]",
	  "Print each wait for reclaim, and how long it took", PRESSURE,
	  cmd_watch, &question_reclaim },
	{ "vmscan", "[options] [interval [count]] [-- CMD ARGS]",
	  "Show reclaim each second: pages scanned, reclaimed, time spent",
	  WATCH | OPT_BY_SUMS | OPT_JSON | OPT_OUT, cmd_watch, &question_vmscan },
	{ "swap", "[options] [interval [count]] [-- CMD ARGS]",
	  "Show which process or cgroup swaps, and the time it waits", PRESSURE, cmd_watch,
	  &question_swap },
	{ "compact", "[options] [-- CMD ARGS]",
	  "Print each wait for compaction, and its result", PRESSURE,
	  cmd_watch, &question_compact },
	{ "migrate", "[options] [-- CMD ARGS] | "
	  "--numa [options] [interval [count]] [-- CMD ARGS]",
	  "Print page migrations: reason, pages, latency; NUMA balancing",
	  PRESSURE | OPT_NUMA, cmd_watch, &question_migrate },
	{ "record", "-o FILE [EVENT...] [options] [interval [count]] | "
	  "-o FILE [EVENT...] [options] -- CMD ARGS",
	  "Record events to a file",
	  NAMED | OPT_STACK | OPT_KINDS | OPT_BY | OPT_OUT | OPT_RECORD | OPT_LEAKS |
	  OPT_NUMA | OPT_DRAIN,
	  cmd_watch, &question_record },
	{ "report", "FILE [EVENT...] [options] | --history [options] | "
	  "DIR --outliers [options]",
	  "Report on a recording",
	  OPT_KINDS | OPT_RENDER | OPT_CALLS | OPT_FLAMES | OPT_FLEET | OPT_JSON | OPT_OUT |
	  OPT_LIVE | OPT_MARKS | OPT_PICK | OPT_BETWEEN | OPT_TABLES | OPT_SYMBOLIZE,
	  cmd_report, NULL },
	{ "diff", "BEFORE AFTER [options] | --hosts OLD/FILE... NEW/FILE... [options]",
	  "Compare two recordings, or two groups of hosts",
	  OPT_KINDS | OPT_RENDER | OPT_CALLS | OPT_FLAMES | OPT_BY_ALL | OPT_JSON | OPT_OUT |
	  OPT_CHANGES | OPT_PICK | OPT_FLEET, cmd_diff, NULL },
	{ "merge", "-o FILE FILE|DIR... [options]",
	  "Merge recordings of many hosts into one",
	  OPT_PICK | OPT_FLEET | OPT_OUT, cmd_merge, NULL },
	{ "annotate", "FILE [SOURCE] [options]",
	  "Show a recording's events on source lines",
	  OPT_ANNOTATE | OPT_OUT, cmd_annotate, NULL },
	{ "push", "--to URL leaks|rss|EVENT... [options] [interval [count]] | "
	  "--to URL FILE...",
	  "Send memory profiles to Pyroscope, or a POST of pprof, each minute",
	  OPT_TARGET | OPT_ALL | OPT_RUN | OPT_KINDS | OPT_WALK | OPT_PUSH, cmd_push, NULL },
	{ "list", "[events|tracepoints|functions|perf] [PATTERN] | [usdt] FILE|-p PID [PATTERN] | "
	  "EVENT",
	  "List events that can be recorded, and their arguments", OPT_PIDS | OPT_LIST, cmd_list,
	  NULL },
	{ "unwind", "PATH [--at ADDRESS|FUNC]",
	  "Show a file's unwind coverage",
	  OPT_UNWIND, cmd_unwind, NULL },
	{ "selftest", "[FILE.ko] [options]",
	  "Check that memtap reports known leaks and faults here",
	  OPT_SELFTEST, cmd_selftest, NULL },
	{ "load", "[FILE.ko] [parameter=value...]", "Load the module",
	  OPT_NONE, cmd_load, NULL },
	{ "unload", "", "Unload the module", OPT_NONE, cmd_unload, NULL },
	{ "status", "", "Show the loaded module and its sessions", OPT_NONE,
	  cmd_status, NULL },
	{ "hooks", "", "List hooks and their state", OPT_NONE,
	  cmd_hooks, NULL },
	{ "version", "", "Print the versions of tool and module", OPT_NONE, cmd_version, NULL },
	{ "help", "[-v] [COMMAND]", "List all commands, or describe one",
	  OPT_WORDS, cmd_help, NULL },
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

static const struct cmd *find_cmd(const char *name)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int cmd_help(const struct cmd *cmd, struct opts *o)
{
	const struct cmd *about = NULL;

	if (o->args.nr > 1)
		return usage_error(cmd->name, "one COMMAND only");
	if (o->args.nr) {
		about = find_cmd(o->args.at[0]);
		if (!about)
			return unknown_cmd(o->args.at[0]);
	}
	if (about && o->words)
		opt_print_words(about->options, stdout);
	else if (about)
		help_command(about, o->verbose);
	else if (!o->words)
		help_all(commands, NR_COMMANDS);
	else
		for (size_t i = 0; i < NR_COMMANDS; i++)
			puts(commands[i].name);
	return 0;
}

/* Arguments as they were, separated by blanks; good enough to read. */
static char *join(int argc, char **argv)
{
	size_t len = 8;
	char *line;

	for (int i = 1; i < argc; i++)
		len += strlen(argv[i]) + 1;
	line = malloc(len);
	if (!line)
		return NULL;
	strcpy(line, "memtap");
	for (int i = 1; i < argc; i++) {
		strcat(line, " ");
		strcat(line, argv[i]);
	}
	return line;
}

/* Names of commands that have an option, as far as there is room; how many there are. */
static size_t which_have(const char *option, char *buf, size_t len)
{
	const char *have[NR_COMMANDS];
	size_t nr = 0, used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (opt_has(commands[i].options & ~OPT_WORDS, option))
			have[nr++] = commands[i].name;
	for (size_t i = 0; i < nr && i < 4; i++)
		used += (size_t)snprintf(buf + used, len - used, "%s%s", !i ? "" :
					 i + 1 == nr ? " and " : ", ", have[i]);
	if (nr > 4)
		snprintf(buf + used, len - used, " and others");
	return nr;
}

/* An option that the command does not have may be another one's, or be misspelt. */
static int unknown_option(const struct cmd *cmd, const struct opts *o)
{
	char name[64], have[128];
	struct text_like l;
	const char *like;
	size_t nr;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(o->unknown, "="), o->unknown);
	nr = *name ? which_have(name, have, sizeof(have)) : 0;
	like = opt_like(cmd->options, name, &l);
	if (nr)
		return usage_error(cmd->name, "`memtap %s` has no option %s%s; %s ha%s it",
				   cmd->name, name[1] ? "--" : "-", name, have,
				   nr == 1 ? "s" : "ve");
	if (like)
		return usage_error(cmd->name, "`memtap %s` has no option --%s (did you mean "
				   "--%s?)", cmd->name, name, like);
	return usage_error(cmd->name, "`memtap %s` has no option %s%s", cmd->name,
			   o->unknown[0] && o->unknown[1] ? "--" : "-", name);
}

static int unknown_cmd(const char *name)
{
	struct text_like l;
	const char *like;

	text_like_begin(&l, name);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		text_like_add(&l, commands[i].name);
	like = text_like_best(&l);
	if (like)
		return usage_error(NULL, "there is no command %s (did you mean `memtap %s`?)", name,
				   like);
	return usage_error(NULL, "there is no command %s", name);
}

static int run(const struct cmd *cmd, int argc, char **argv, const char *line)
{
	char why[OPT_ERR];
	struct opts *o = malloc(sizeof(*o));
	int ret;

	if (!o)
		return fail_text("no memory");
	opt_init(o);
	o->line = line ? line : "memtap";
	if (opt_parse(cmd->options, argc, argv, o, why)) {
		ret = o->unknown ? unknown_option(cmd, o) : usage_error(cmd->name, "%s", why);
	} else if (o->help) {
		help_command(cmd, false);
		ret = 0;
	} else {
		err_quiet = o->quiet;
		/* the others compare paths with what was recorded */
		ret = cmd->options & (OPT_TARGET | OPT_PS) ? containers_resolve(o, cmd->name) : 0;
		if (!ret)
			ret = cmd->run(cmd, o);
	}
	opt_free(o);
	free(o);
	return ret;
}

/*
 * Who starts us may have closed these, and then the first files that are opened get
 * their numbers: sentences would go into a report.  What stands in for them cannot be
 * read or written, so that what is lost is an error as before.
 */
static void occupy_std(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(EXIT_FAILURE);
}

/* A full disk or a closed pipe is known at the latest here. */
static int finish(int ret)
{
	if ((fflush(stdout) || ferror(stdout)) && !ret)
		ret = fail_text("standard output could not be written");
	return ret;
}

int main(int argc, char **argv)
{
	const struct cmd *cmd;
	const char *name = argc > 1 ? argv[1] : "";
	char *line;
	int ret;

	occupy_std();
	/* whoever does not read on shall not leave files and a program behind */
	target_ignore_pipe();
	line = join(argc, argv);
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	else if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		name = "version";
	cmd = find_cmd(name);
	if (argc < 2) {
		free(line);
		help_short();
		return finish(0);
	}
	if (!cmd) {
		free(line);
		return unknown_cmd(name);
	}
	limit_memory();
	limit_files();
	ret = run(cmd, argc - 1, argv + 1, line);
	free(line);
	return finish(ret);
}
