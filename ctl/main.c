// SPDX-License-Identifier: GPL-2.0-or-later
/* memtap: who uses memory, and why it grows. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/limit.h"
#include "cmd/cmd.h"
#include "selftest/selftest.h"
#include "target/target.h"
#include "top/top.h"

#define WATCH	(OPT_TARGET | OPT_RUN | OPT_SELECT)
#define NAMED	(WATCH | OPT_VALUE)
#define STACKS	(WATCH | OPT_STACK | OPT_KINDS | OPT_RENDER | OPT_CALLS | OPT_FLAMES | \
		 OPT_BY | OPT_JSON | OPT_OUT)

#define PRESSURE	(WATCH | OPT_KINDS | OPT_BY | OPT_JSON | OPT_OUT | OPT_PRESSURE)

#define SLAB_HELP \
	"Rates are since the last line; what a cache grew by is since the start.\n"

#define PAGES_HELP \
	"Movable pages, too.  With --order the stacks of who asks for blocks of that size.\n"

#define PRESSURE_HELP \
	"A line for each, as it ends, and sums by process and control group at the end.\n" \
	"--stacks shows who waited, by stack, the longest first; --hist how long.\n"

#define VMSCAN_HELP \
	"Milliseconds of all threads together: in shrinkers, in direct reclaim, at limits of\n" \
	"memory cgroups; wakeups of kswapd, pages written; pages scanned and reclaimed by\n" \
	"kswapd (K) and by those who wait (D). At the end the shrinkers, and histograms.\n"

#define SWAP_HELP \
	"Each second, or interval: reads of swap and writes to it, faults that needed one and\n" \
	"how long they waited. --by cgroup, --stacks and --hist tell more of them.\n"

#define MIGRATE_HELP \
	PRESSURE_HELP \
	"--numa: what NUMA balancing does: faults that it causes to learn who uses a page,\n" \
	"pages moved to who uses them, threads moved to their memory, and what that takes.\n"

#define RECORD_HELP \
	"rss, reclaim, vmscan, swap, compact or migrate, alone: what that command asks, by\n" \
	"stack.\n" \
	"With an interval the flame graph of the file has a time line.\n" \
	"Who is killed for want of memory meanwhile is recorded, too.\n" \
	EVENT_HELP

#define EVENT_HELP \
	"EVENT is\n" \
	"  fault, brk, mmap ...             built in (memtap list events)\n" \
	"  [t:]SUBSYSTEM:NAME               tracepoint\n" \
	"  k:FUNC[+OFF]  kr:FUNC            kernel function, its return\n" \
	"  [u:]FILE:FUNC[+OFF]  ur:...      user function, its return\n" \
	"  [u:]FILE+OFF                     by offset in the file\n" \
	"  [usdt:]FILE:PROVIDER:NAME        USDT probe\n" \
	"  perf:NAME[,period=N|,freq=N]     overflows of a counter (memtap list perf)\n" \
	"EVENT(NAME=arg1, ...) has arguments, see memtap(8); --filter and --value name them.\n" \
	"FILE is a path, or the name of a library: c, libssl; with -p, --tid or a program\n" \
	"that is run also that of a program: nginx.\n"

#define LEAKS_HELP \
	"A program that is run is followed from its first allocation to its end; then the\n" \
	"report says what is definitely, indirectly or possibly lost, as Memcheck does.\n" \
	"One that runs already is followed from now on: what is not freed is shown at the\n" \
	"end, or at each interval.\n" \
	"-k, and nobody chosen: objects of the kernel's slabs that are not freed, by kernel\n" \
	"stack; --by cache, module, process, cgroup sums them up. -k --census asks the kernel\n" \
	"which kind of its own memory grows.\n"

#define HEAP_HELP \
	"Of a process with glibc's malloc: stops it, reads its heap and lets it go on, without\n" \
	"the module. By arena, what is in use, free and kept, which adds up to what malloc took\n" \
	"of the kernel; blocks by size; and those that nothing leads to, with the class of C++,\n" \
	"or the symbol, that their first word points to.\n"

#define DIFF_HELP \
	"Two recordings of one question, of `memtap record`: rows that changed, the largest\n" \
	"change last. Rows are told apart by names: of programs, and of functions. --flame\n" \
	"draws the latter, red where it is more; --folded has both values, for flamegraph.pl.\n"

#define TRIAGE_HELP \
	"The USE method's questions about memory, answered from /proc and /sys, without the\n" \
	"module: how much is used, who holds it and grows; swapping, faults, reclaim, stalls;\n" \
	"who was killed. Then the command to run next, and why. Without an interval: one\n" \
	"second.\n"

#define TOP_HELP \
	"The machine's memory, processes by their growth, kernel caches, on one screen. Needs\n" \
	"no module until Enter, f, g or l asks for the stacks of a process: what that costs is\n" \
	"said, and nothing stays attached when it is left. Keys: ?. Where there is no terminal,\n" \
	"and with --json, a text for each interval.\n"

#define DOCTOR_HELP \
	"Reads what the machine says of itself: the kernel, its headers and compiler, who may\n" \
	"load modules and which, containers, other tracers. Nothing is loaded or changed, and\n" \
	"root is not needed, who sees more. Exit status 0: memtap can run here; 1: something\n" \
	"forbids it, and is a problem. What is a note is worth knowing.\n"

#define OOM_HELP \
	"Waits for somebody to be killed for want of memory, by the machine or by the limit of\n" \
	"a cgroup, and tells why: what the memory was used for, who asked for more and where,\n" \
	"who was killed. The module records that from the moment it is loaded: --last shows it\n" \
	"when nobody waited. -p, --comm, --cgroup: of whom is killed, or asked for memory.\n"

#define MONITOR_HELP \
	"Prints a line of JSON for what happens, as long as it runs: somebody was killed for\n" \
	"want of memory; somebody waited for it for longer than stall_ms, which is a parameter\n" \
	"of the module; a session has no room any more for what it counts. Several may listen.\n" \
	"--exec runs PROGRAM each time, without a shell and without arguments; its standard\n" \
	"input is the line. At most 4 run at once.\n"

#define FAULTS_HELP \
	"--by file or mapping: what of it was touched. --major: who waited for which file, or\n" \
	"for swap, the longest first. --huge: a line for each huge page that is mapped, made\n" \
	"of small ones or split again, and sums at the end, as `memtap reclaim` has them.\n"

#define RSS_HELP \
	"Of the pages that are resident when the watching ends, or at each interval: which\n" \
	"stack mapped them. Anonymous memory, files, shared memory and what is swapped out,\n" \
	"page for page as /proc/PID/smaps has it. What was there before is a row of its own.\n" \
	"At an interval: what changed since the last report.\n" \
	"--by mapping: of which mapping.\n"

#define SELFTEST_HELP \
	"A known amount of work is done in processes of its own, in seconds: blocks of\n" \
	"memory leaked, pages touched, heap and mappings grown, kernel objects kept; all\n" \
	"of it must be found, exactly. The module is loaded for it where it is not, and\n" \
	"unloaded again. Exit status 0: all found; 1: something was not. What this kernel\n" \
	"lacks is said, and is no failure.\n"

static int cmd_help(const struct cmd *cmd, struct opts *o);

static const struct cmd commands[] = {
	{ "triage", "[interval [count]]",
	  "what the machine's memory suffers from, and what to ask next", TRIAGE_HELP,
	  OPT_INTERVAL, cmd_triage, NULL },
	{ "top", "[-p PID] [interval [count]]",
	  "who grows, every second; Enter shows the stacks of one", TOP_HELP,
	  OPT_INTERVAL | OPT_PIDS, cmd_top, NULL },
	{ "doctor", "[--json]", "can memtap run here, and what mends it if not", DOCTOR_HELP,
	  OPT_DOCTOR, cmd_doctor, NULL },
	{ "oom", "[--last N] [options]", "who was killed for want of memory, and why", OOM_HELP,
	  OPT_OOM, cmd_oom, NULL },
	{ "monitor", "[--exec PROGRAM] [options]",
	  "a line of JSON at each OOM kill, and when a session's tables are full", MONITOR_HELP,
	  OPT_MONITOR, cmd_monitor, NULL },
	{ "stacks", "EVENT... [options] [interval [count]] [-- CMD ARGS]",
	  "count events by stack", EVENT_HELP, STACKS | OPT_VALUE, cmd_watch,
	  &question_stacks },
	{ "faults", "[options] [interval [count]] [-- CMD ARGS]",
	  "page faults by stack: what makes RSS grow", FAULTS_HELP, STACKS | OPT_VALUE | OPT_FAULTS,
	  cmd_watch, &question_faults },
	{ "rss", "[options] [interval [count]] [-- CMD ARGS]",
	  "resident memory by the stack that touched it first", RSS_HELP,
	  STACKS | OPT_RSS | OPT_CHANGES | OPT_STALE,
	  cmd_watch,
	  &question_rss },
	{ "brk", "[options] [interval [count]] [-- CMD ARGS]",
	  "growth of the heap by stack", NULL, STACKS, cmd_watch, &question_brk },
	{ "mmap", "[options] [interval [count]] [-- CMD ARGS]",
	  "growth of mappings by stack: mmap, mremap, mprotect", NULL, STACKS | OPT_MMAP,
	  cmd_watch, &question_mmap },
	{ "shmem", "[options] [interval [count]] [-- CMD ARGS]",
	  "growth of shared memory by stack and file: tmpfs, memfd", NULL, STACKS, cmd_watch,
	  &question_shmem },
	{ "shm", "[options] [-- CMD ARGS] | --live",
	  "calls about shared memory as they come, or who holds it now", NULL,
	  OPT_TARGET | OPT_RUN | OPT_SELECT | OPT_KINDS | OPT_WALK | OPT_OUT | OPT_EACH |
	  OPT_JSON | OPT_SHM, cmd_shm, &question_shm },
	{ "leaks", "[-k|-p PID|--cgroup PATH|--comm NAME] [options] "
	  "[interval [count]] | -- CMD ARGS",
	  "what is allocated and never freed, by stack", LEAKS_HELP,
	  OPTS_FOLLOW | OPT_RENDER | OPT_FLAMES | OPT_JSON | OPT_OUT | OPT_LIVE | OPT_TRACE |
	  OPT_KERNEL_LEAKS | OPT_CHANGES | OPT_STALE | OPT_MARKS | OPT_DRAIN, cmd_leaks,
	  &question_leaks },
	{ "heap", "PID [options]", "what malloc holds of a process that runs; what of it is lost",
	  HEAP_HELP, OPT_HEAP | OPT_PIDS | OPT_OUT, cmd_heap, NULL },
	{ "mark", "NAME [-p PID]", "give this moment a name, where `memtap leaks` runs", NULL,
	  OPT_PIDS, cmd_mark, NULL },
	{ "slab", "[--cache PATTERN] [options] [interval [count]]",
	  "the kernel's caches by the second: what comes and goes, and what is left", SLAB_HELP,
	  OPT_RUN | OPT_CACHES | OPT_JSON | OPT_OUT, cmd_watch, &question_slab },
	{ "pages", "[--order N] [options] [interval [count]]",
	  "the kernel's pages by the second, by order; --order: who asks for them", PAGES_HELP,
	  OPT_RUN | OPT_ORDER | OPT_RENDER | OPT_FLAMES | OPT_JSON | OPT_OUT, cmd_pages,
	  &question_pages },
	{ "stat", "[EVENT...] [options] [interval [count]] [-- CMD ARGS]",
	  "count events, without stacks", EVENT_HELP,
	  NAMED | OPT_JSON | OPT_OUT, cmd_watch, &question_stat },
	{ "count", "EVENT... [--by NAME] [options] [interval [count]] [-- CMD ARGS]",
	  "how often an argument had which value", EVENT_HELP,
	  NAMED | OPT_DIST | OPT_FLAMES | OPT_JSON | OPT_OUT, cmd_watch, &question_count },
	{ "hist", "EVENT... [--value NAME] [options] [interval [count]] [-- CMD ARGS]",
	  "histograms of an argument, or of how long calls took", EVENT_HELP,
	  NAMED | OPT_DIST | OPT_HIST | OPT_FLAMES | OPT_JSON | OPT_OUT, cmd_watch,
	  &question_hist },
	{ "trace", "EVENT... [options] [-- CMD ARGS]",
	  "print events as they come, with their arguments", EVENT_HELP,
	  OPT_TARGET | OPT_RUN | OPT_SELECT | OPT_KINDS | OPT_WALK | OPT_OUT | OPT_EACH,
	  cmd_watch, &question_trace },
	{ "reclaim", "[options] [-- CMD ARGS]",
	  "who waits for memory to be reclaimed, and how long", PRESSURE_HELP, PRESSURE,
	  cmd_watch, &question_reclaim },
	{ "vmscan", "[options] [interval [count]] [-- CMD ARGS]",
	  "reclaim by the second: who scans, what it costs and yields", VMSCAN_HELP,
	  WATCH | OPT_BY | OPT_JSON | OPT_OUT, cmd_watch, &question_vmscan },
	{ "swap", "[options] [interval [count]] [-- CMD ARGS]",
	  "who swaps in and out, and waits for it", SWAP_HELP, PRESSURE, cmd_watch,
	  &question_swap },
	{ "compact", "[options] [-- CMD ARGS]",
	  "who waits for compaction, and what comes of it", PRESSURE_HELP, PRESSURE,
	  cmd_watch, &question_compact },
	{ "migrate", "[options] [-- CMD ARGS] | --numa [options] [interval [count]] "
	  "[-- CMD ARGS]",
	  "pages that are moved, why, and how long it takes", MIGRATE_HELP,
	  PRESSURE | OPT_NUMA, cmd_watch, &question_migrate },
	{ "record", "-o FILE [EVENT...] [options] [interval [count]] [-- CMD ARGS]",
	  "keep what is counted in a file", RECORD_HELP,
	  NAMED | OPT_STACK | OPT_KINDS | OPT_BY | OPT_OUT | OPT_RECORD | OPT_LEAKS |
	  OPT_NUMA | OPT_DRAIN,
	  cmd_watch, &question_record },
	{ "report", "FILE [options]", "show what is in a file", NULL,
	  OPT_KINDS | OPT_RENDER | OPT_CALLS | OPT_FLAMES | OPT_BY | OPT_JSON | OPT_OUT |
	  OPT_LIVE | OPT_MARKS, cmd_report, NULL },
	{ "diff", "FORMER LATTER [options]", "what changed from one file to another", DIFF_HELP,
	  OPT_KINDS | OPT_RENDER | OPT_CALLS | OPT_FLAMES | OPT_BY | OPT_JSON | OPT_OUT |
	  OPT_CHANGES, cmd_diff, NULL },
	{ "annotate", "FILE [SOURCE] [options]",
	  "source lines of what is in a file, with what each caused", NULL,
	  OPT_ANNOTATE | OPT_OUT, cmd_annotate, NULL },
	{ "list", "[events|tracepoints|functions|perf|FILE|-p PID] [PATTERN] | EVENT",
	  "list what can be counted; the arguments of an event", NULL, OPT_PIDS, cmd_list, NULL },
	{ "unwind", "PATH [--at ADDRESS|FUNC]",
	  "what is known of a file's code for stacks without frame pointers", NULL,
	  OPT_UNWIND, cmd_unwind, NULL },
	{ "selftest", "[FILE.ko] [options]",
	  "does memtap find on this machine what is there to be found", SELFTEST_HELP,
	  OPT_SELFTEST, cmd_selftest, NULL },
	{ "load", "[FILE.ko] [parameter=value...]", "load the module", NULL,
	  OPT_NONE, cmd_load, NULL },
	{ "unload", "", "unload the module", NULL, OPT_NONE, cmd_unload, NULL },
	{ "status", "", "what the module is and who uses it", NULL, OPT_NONE,
	  cmd_status, NULL },
	{ "hooks", "", "the hooks, and what became of each", NULL, OPT_NONE,
	  cmd_hooks, NULL },
	{ "version", "", "versions of tool and module", NULL, OPT_NONE, cmd_version, NULL },
	{ "help", "[COMMAND]", "print help", NULL, OPT_WORDS, cmd_help, NULL },
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

static const struct cmd *find_cmd(const char *name)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void print_cmd(const struct cmd *c)
{
	printf("Usage: memtap %s%s%s\n%c%s.\n\n", c->name, *c->args ? " " : "", c->args,
	       c->summary[0] - (c->summary[0] >= 'a' ? 'a' - 'A' : 0),
	       c->summary + 1);
	if (c->help)
		printf("%s\n", c->help);
	opt_print_help(c->options, stdout);
}

static void print_all(void)
{
	printf("Usage: memtap COMMAND [options]\n"
	       "Who uses memory, and why it grows.\n\n");
	for (size_t i = 0; i < NR_COMMANDS; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].summary);
	printf("\nmemtap COMMAND --help tells more, memtap(8) all.\n"
	       "First: memtap triage; memtap load; then: memtap faults -- PROGRAM\n");
}

static int cmd_help(const struct cmd *cmd, struct opts *o)
{
	const struct cmd *about = NULL;

	if (o->args.nr > 1)
		return usage_error(cmd->name, "one COMMAND only");
	if (o->args.nr) {
		about = find_cmd(o->args.at[0]);
		if (!about)
			return usage_error(NULL, "there is no command %s",
					   o->args.at[0]);
	}
	if (about && o->words)
		opt_print_words(about->options, stdout);
	else if (about)
		print_cmd(about);
	else if (!o->words)
		print_all();
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
		ret = usage_error(cmd->name, "%s", why);
	} else if (o->help) {
		print_cmd(cmd);
		ret = 0;
	} else {
		err_quiet = o->quiet;
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

int main(int argc, char **argv)
{
	const struct cmd *cmd;
	const char *name = argc > 1 ? argv[1] : "help";
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
	if (!cmd) {
		free(line);
		return usage_error(NULL, "there is no command %s", name);
	}
	limit_memory();
	limit_files();
	ret = run(cmd, argc > 1 ? argc - 1 : 1, argc > 1 ? argv + 1 : argv, line);
	free(line);
	/* a full disk or a closed pipe is known at the latest here */
	if ((fflush(stdout) || ferror(stdout)) && !ret)
		ret = fail_text("standard output could not be written");
	return ret;
}
