// SPDX-License-Identifier: GPL-2.0-or-later
/* Print `memtap help` and `memtap CMD --help`. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/opt.h"
#include "cmd/help.h"

#define HELP_LINES	60		/* of a command, at most */
#define HELP_WIDTH	80

enum subject {
	START, PROCESSES, KERNEL, PRESSURE, EVENTS, RECORDINGS, MODULE, NR_SUBJECTS
};

static const char *const subjects[NR_SUBJECTS] = {
	[START] = "Start here",
	[PROCESSES] = "Processes",
	[KERNEL] = "Kernel memory",
	[PRESSURE] = "Pressure and OOM",
	[EVENTS] = "Events",
	[RECORDINGS] = "Recordings",
	[MODULE] = "Module",
};

#define EVENT_FORMS \
	"EVENT is one of:\n" \
	"  fault, brk, mmap ...         built in (memtap list events)\n" \
	"  [t:]SUBSYSTEM:NAME           tracepoint\n" \
	"  k:FUNC[+OFF], kr:FUNC        kernel function, its return\n" \
	"  [u:]FILE:FUNC[+OFF], ur:...  user function, its return\n" \
	"  [u:]FILE:SOURCE:LINE         code of a source line (needs -g)\n" \
	"  [usdt:]FILE:PROVIDER:NAME    USDT probe\n" \
	"  perf:NAME[,period=N|,freq=N] perf counter (memtap list perf)\n" \
	"EVENT(NAME=arg1, ...) records arguments, see memtap(8).\n"

/* In the order of `memtap help`. */
static const struct topic {
	const char *name;
	enum subject subject;
	const char *text;
	const char *examples[2];
} topics[] = {
	{ "triage", START,
	  "Reads /proc and /sys: memory use, growth, swapping, reclaim, stalls and OOM\n"
	  "kills. Ends with the command to run next, and why; no module is needed.\n",
	  { "memtap triage", "memtap triage 5 3" } },
	{ "diagnose", START,
	  "Runs triage, records what its findings ask for, each within -d, 64 MiB and 5 %\n"
	  "of a CPU, and prints conclusions with evidence. Without the module it says what\n"
	  "/proc shows. Ctrl-C concludes at once.\n",
	  { "memtap diagnose", "memtap diagnose -d 5m -p PID -o ticket" } },
	{ "top", START,
	  "Lists processes by growth, kernel caches and memory use on one screen. Enter,\n"
	  "f, g or l attaches to a process and shows its stacks; only that needs the\n"
	  "module.\n",
	  { "memtap top", "memtap top -p PID 2" } },
	{ "doctor", START,
	  "Checks kernel, headers, compiler, module signing, containers and other tracers.\n"
	  "Changes nothing and needs no root; exit status 1 means that memtap cannot run.\n",
	  { "memtap doctor", "memtap doctor --json" } },
	{ "help", START,
	  "Without COMMAND: lists all commands by subject. With COMMAND: prints its usage,\n"
	  "examples and options, as COMMAND --help does.\n",
	  { "memtap help", "memtap help -v leaks" } },
	{ "ps", PROCESSES,
	  "Lists processes by PSS, which counts shared memory once; --by groups them. The\n"
	  "sums stand beside what the kernel counts. PATTERN keeps rows whose name has it;\n"
	  "--map PID lists mappings, as pmap -X. No module is needed.\n",
	  { "memtap ps --by program", "memtap ps --map PID --sort rss" } },
	{ "rss", PROCESSES,
	  "Shows which stack mapped each resident page, at the end or at each interval.\n"
	  "The rows of a process add up to its RSS in /proc/PID/smaps; pages from before\n"
	  "the start are one row.\n",
	  { "memtap rss -p PID -d 10", "memtap rss --by mapping -- ./prog" } },
	{ "leaks", PROCESSES,
	  "Records each allocation until it is freed. For a launched program the report at\n"
	  "its end classifies blocks as lost or reachable, as Memcheck does; with -p PID\n"
	  "it shows what is allocated from now on and not freed; with -k, kernel memory.\n",
	  { "memtap leaks -p PID -d 60", "memtap leaks -- ./prog" } },
	{ "heap", PROCESSES,
	  "Pauses a process for some ms and walks its heap (malloc of glibc or musl,\n"
	  "jemalloc, tcmalloc, mimalloc): what blocks are, which variables and stacks hold\n"
	  "them, what no pointer reaches, and fragmentation. At an interval: what grew. It\n"
	  "needs no module and sees allocations from before the start. A core file gives\n"
	  "the same answers.\n",
	  { "memtap heap PID --retained", "memtap heap PID 60 10 --retained" } },
	{ "faults", PROCESSES,
	  "Counts page faults by user stack, also of memory that is freed again. --major\n"
	  "shows waits for I/O, --huge events of huge pages (THP and hugetlbfs).\n",
	  { "memtap faults -p PID -d 10", "memtap faults --by file -- ./prog" } },
	{ "brk", PROCESSES,
	  "Shows the stacks that grow the heap by brk(). A heap that shrinks counts as\n"
	  "negative growth.\n",
	  { "memtap brk -p PID -d 10", "memtap brk --flame brk.html -- ./prog" } },
	{ "mmap", PROCESSES,
	  "Shows the stacks that grow mappings by mmap(), mremap() and mprotect(). With\n"
	  "--snoop it prints each call with its arguments and result.\n",
	  { "memtap mmap -p PID -d 10", "memtap mmap --snoop --all -p PID" } },
	{ "shmem", PROCESSES,
	  "Shows the stacks and files that grow shared memory: tmpfs, memfd, System V.\n"
	  "Counts pages when they are allocated, not when they are mapped.\n",
	  { "memtap shmem -d 10", "memtap shmem -p PID --by file" } },
	{ "shm", PROCESSES,
	  "Prints each call that creates, attaches or removes shared memory. With --live\n"
	  "it lists existing shared memory and its users; that needs no module.\n",
	  { "memtap shm --live", "memtap shm -p PID" } },
	{ "mark", PROCESSES,
	  "Sets a named mark in running sessions of `leaks` and `record --leaks`.\n"
	  "--between and --since-mark report only blocks allocated between or since marks.\n",
	  { "memtap mark before", "memtap mark before -p PID" } },
	{ "slab", KERNEL,
	  "Prints the busiest slab caches each second: allocations, frees and growth.\n"
	  "Records no objects or stacks; for these use `memtap leaks -k --cache NAME`.\n",
	  { "memtap slab", "memtap slab --cache 'kmalloc-*' 5" } },
	{ "pages", KERNEL,
	  "Prints page allocations by order each second, and free blocks by zone. With\n"
	  "--order it shows the stacks that allocate blocks of this order.\n",
	  { "memtap pages", "memtap pages --order 3 -d 10" } },
	{ "oom", PRESSURE,
	  "Explains each OOM kill, of the machine or of a cgroup: victim, trigger, cause.\n"
	  "The module records kills from the time it is loaded; --last shows past ones.\n",
	  { "memtap oom --last 3", "memtap oom --cgroup /web" } },
	{ "history", PRESSURE,
	  "Records what triage reads, every 10 s, to /var/lib/memtap (256 MiB, 7 days).\n"
	  "triage, top and oom show such moments with --at and --between, also over\n"
	  "reboots; list shows what is missing. No module is needed.\n",
	  { "memtap history start", "memtap history list" } },
	{ "monitor", PRESSURE,
	  "Prints one line of JSON for each OOM kill, each stall of at least stall_ms (a\n"
	  "parameter of the module), and each event table that gets full.\n",
	  { "memtap monitor", "memtap monitor --exec /usr/local/bin/alert" } },
	{ "watch", PRESSURE,
	  "Waits until a condition holds, and begins one action, whose output is a file.\n"
	  "`memtap history start` does the same with the rules of /etc/memtap.conf.\n"
	  "`memtap help -v watch` lists conditions and actions.\n",
	  { "memtap watch --when 'available < 5% for 20s' --do 'faults 30s'",
	    "memtap watch --when 'process java grows > 1M/s' --do 'leaks 60s' 5" } },
	{ "metrics", PRESSURE,
	  "Prints memory by kind, pressure, reclaim, OOM kills, the largest cgroups,\n"
	  "programs and slab caches with their growth, and live bytes where a session runs,\n"
	  "as OpenMetrics text. --textfile writes a file for node_exporter, --listen serves\n"
	  "HTTP. No module is needed.\n",
	  { "memtap metrics --listen 127.0.0.1:9184",
	    "memtap metrics --textfile /var/lib/node_exporter 60" } },
	{ "push", RECORDINGS,
	  "Sends live blocks (leaks), resident pages (rss), events or recordings as pprof,\n"
	  "one profile for each program in a cgroup. A URL that ends with /ingest is\n"
	  "Pyroscope's. Messages wait on disk while the receiver does not answer.\n",
	  { "memtap push --to http://pyroscope:4040/ingest leaks --cgroup /web",
	    "memtap push --to https://HOST/profiles fault reclaim 60" } },
	{ "reclaim", PRESSURE,
	  "Prints each direct reclaim and each sleep above memory.high with its latency.\n"
	  "Sums by process and cgroup follow at the end.\n",
	  { "memtap reclaim -d 10", "memtap reclaim --stacks -d 10" } },
	{ "vmscan", PRESSURE,
	  "Prints reclaim activity each second: time, pages scanned and reclaimed by\n"
	  "kswapd (K) and by direct reclaim (D). Totals by shrinker follow at the end.\n",
	  { "memtap vmscan 1", "memtap vmscan --by cgroup 5 12" } },
	{ "swap", PRESSURE,
	  "Prints swap reads, writes and the faults that waited for them each second. --by\n"
	  "cgroup or process shows which one swaps.\n",
	  { "memtap swap --by cgroup", "memtap swap --stacks -d 10" } },
	{ "compact", PRESSURE,
	  "Prints each wait for compaction and each compacted zone, with its result. Sums\n"
	  "by process and cgroup follow at the end.\n",
	  { "memtap compact -d 10", "memtap compact --stacks -d 10" } },
	{ "migrate", PRESSURE,
	  "Prints page migrations with their reason and latency. With --numa it shows NUMA\n"
	  "balancing: hinting faults, moved pages and threads.\n",
	  { "memtap migrate -d 10", "memtap migrate --numa 1" } },
	{ "stacks", EVENTS,
	  "Counts events by user and kernel stack, of a target or of the whole machine. -U\n"
	  "or -K records only one kind of stack.\n" EVENT_FORMS,
	  { "memtap stacks kmem:kmalloc -d 5", "memtap stacks k:vfs_read -- ./prog" } },
	{ "stat", EVENTS,
	  "Prints how often each event occurred, each interval and in total. Without\n"
	  "EVENT: all built-in events except those of kernel memory.\n" EVENT_FORMS,
	  { "memtap stat 1", "memtap stat fault mmap -- ./prog" } },
	{ "count", EVENTS,
	  "Prints one row for each value of the argument that --by names, most frequent\n"
	  "first. With --value it sums another argument.\n" EVENT_FORMS,
	  { "memtap count 'kmem:kmalloc(bytes_req)' --by bytes_req -d 5",
	    "memtap count 'mmap(prot)' --by prot -- ./prog" } },
	{ "hist", EVENTS,
	  "Prints histograms and percentiles of an argument (--value), or of a call's\n"
	  "latency. --by NAME prints one for each process, thread or value of an argument.\n"
	  EVENT_FORMS,
	  { "memtap hist mmap --value len -d 10", "memtap hist kr:vfs_read -d 5" } },
	{ "trace", EVENTS,
	  "Prints one line for each event, with its arguments, as it occurs. --filter\n"
	  "limits the events; --latency adds how long a call took.\n" EVENT_FORMS,
	  { "memtap trace 'mmap(len,prot,ret)' -- ./prog",
	    "memtap trace 'kmem:mm_page_alloc(order)' --filter 'order > 2'" } },
	{ "list", EVENTS,
	  "Lists events that can be recorded, or the arguments of one EVENT. PATTERN may\n"
	  "have *, ? and []; other text is searched anywhere in a name.\n",
	  { "memtap list tracepoints 'kmem:*'", "memtap list c malloc" } },
	{ "record", RECORDINGS,
	  "`memtap report` shows the file. `record rss`, `reclaim`, `vmscan`, `swap`,\n"
	  "`compact` or `migrate` records what that command shows; --leaks: live blocks.\n"
	  EVENT_FORMS,
	  { "memtap record -o faults.memtap fault -p PID -d 10",
	    "memtap record --leaks -o leaks.memtap -p PID -d 60" } },
	{ "report", RECORDINGS,
	  "Prints the report of a recording; symbols come from files on this machine.\n"
	  "Neither the module nor root is needed. DIR --outliers reads the recordings of\n"
	  "many hosts: which hosts differ from the rest, and by what stack.\n",
	  { "memtap report FILE", "memtap report FILE --flame page.html" } },
	{ "diff", RECORDINGS,
	  "Compares two recordings of the same kind: rows that changed, the largest last.\n"
	  "Rows are matched by program and function names; --flame shows growth in red.\n"
	  "--hosts compares two groups of hosts by what each has per second; the groups\n"
	  "are two directories, or stand before and after --.\n",
	  { "memtap diff BEFORE AFTER", "memtap diff --hosts OLD/*.memtap NEW/*.memtap" } },
	{ "merge", RECORDINGS,
	  "Makes one recording of many: of other hosts, kernels and times. Functions are\n"
	  "matched by name; `memtap report FILE --by host` tells hosts apart. Recordings\n"
	  "are read one by one, so that thousands need little memory; damaged ones are\n"
	  "named and left out.\n",
	  { "memtap merge -o ALL.memtap hosts/", "memtap merge -o ALL.memtap A.memtap B.memtap" }
	},
	{ "annotate", RECORDINGS,
	  "Shows source lines with the events that each line or its callees caused. Needs\n"
	  "debug information of the recorded programs, and their sources.\n",
	  { "memtap annotate FILE", "memtap annotate FILE main.c --context 5" } },
	{ "load", MODULE,
	  "Loads the installed module, or FILE.ko, with these parameters. watch=EVENT,...\n"
	  "starts the flight recorder; see memtap(8).\n",
	  { "memtap load", "memtap load ./memtap.ko watch=fault,brk" } },
	{ "unload", MODULE,
	  "Unloads the module; all probes are removed. Refused while a session is open;\n"
	  "`memtap status` lists sessions.\n",
	  { "memtap unload", "memtap unload -q" } },
	{ "status", MODULE,
	  "Shows version, memory and parameters of the loaded module, and its sessions.\n"
	  "Needs root.\n",
	  { "memtap status", "memtap status -q" } },
	{ "hooks", MODULE,
	  "Lists the module's hooks: hits, misses, and the error of one that did not\n"
	  "attach. Needs root.\n",
	  { "memtap hooks", "memtap hooks -q" } },
	{ "selftest", MODULE,
	  "Leaks blocks, touches pages and grows heaps in processes of its own, and checks\n"
	  "that memtap reports these exactly. Loads the module if necessary; takes\n"
	  "seconds.\n",
	  { "memtap selftest", "memtap selftest --json" } },
	{ "unwind", MODULE,
	  "Shows how much of a file's code unwind tables cover, and what they cannot\n"
	  "express. PATH may be a library's name (c) or [vdso]; neither module nor root is\n"
	  "needed.\n",
	  { "memtap unwind /usr/bin/ls", "memtap unwind c --at malloc" } },
	{ "version", MODULE,
	  "Prints the versions of the tool and of the loaded module. `memtap --version` is\n"
	  "the same.\n",
	  { "memtap version", "memtap --version" } },
};

#define NR_TOPICS	(sizeof(topics) / sizeof(topics[0]))

/* A form of a command that has a line of its own, behind the last one of its subject. */
static const struct {
	enum subject subject;
	const char *name, *summary;
} forms[] = {
	{ KERNEL, "leaks -k", "Find kernel memory that is allocated and never freed" },
};

#define NR_FORMS	(sizeof(forms) / sizeof(forms[0]))

static const struct topic *topic_of(const char *name)
{
	for (size_t i = 0; i < NR_TOPICS; i++)
		if (!strcmp(topics[i].name, name))
			return &topics[i];
	return NULL;
}

static const struct cmd *find(const struct cmd *cmds, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(cmds[i].name, name))
			return &cmds[i];
	return NULL;
}

static void say_module(void)
{
	if (access("/sys/module/memtap", F_OK))
		puts("Module not loaded: run `memtap load` as root (`memtap doctor` if that "
		     "fails).\n");
}

void help_short(void)
{
	say_module();
	puts("memtap: find what uses memory on this machine, and why it grows\n"
	     "\n"
	     "Usage: memtap COMMAND [options]\n"
	     "\n"
	     "  memtap triage             summarize memory use; suggest the next command\n"
	     "  memtap rss -p PID -d 10   which code makes a process's RSS grow\n"
	     "  memtap leaks -p PID       what a process allocates and does not free\n"
	     "  memtap leaks -- ./prog    leaks of a program, at its end\n"
	     "  memtap oom --last 3       which process was OOM-killed, and why\n"
	     "\n"
	     "`memtap help` lists all commands; `memtap COMMAND --help` describes one.");
}

void help_all(const struct cmd *cmds, size_t nr)
{
	say_module();
	puts("Usage: memtap COMMAND [options]\n"
	     "First: `memtap triage` (no module needed). Then, with the module:\n"
	     "`memtap leaks -p PID`, `memtap rss -p PID` or what triage suggests.");
	for (int s = 0; s < NR_SUBJECTS; s++) {
		printf("\n%s:\n", subjects[s]);
		for (size_t i = 0; i < NR_TOPICS; i++) {
			const struct cmd *c = find(cmds, nr, topics[i].name);

			if ((int)topics[i].subject == s && c)
				printf("  %-10s %s\n", c->name, c->summary);
		}
		for (size_t i = 0; i < NR_FORMS; i++)
			if ((int)forms[i].subject == s)
				printf("  %-10s %s\n", forms[i].name, forms[i].summary);
	}
	puts("\n"
	     "More questions:\n"
	     "  A container           --container NAME, with rss, leaks, oom, ps ...\n"
	     "  Leak or cache?        memtap rss -p PID --stale 5m\n"
	     "  Huge pages            memtap faults --huge\n"
	     "  Java                  run the JVM with -XX:+PreserveFramePointer\n"
	     "  Remove memtap         memtap unload, then remove the package\n"
	     "\n"
	     "`memtap COMMAND --help` describes a command; memtap(8) is the manual.");
}

/* Usage lines: forms of a command are separated by " | ". */
static size_t print_usage(const struct cmd *cmd)
{
	const char *args = cmd->args;
	size_t lines = 0;

	do {
		const char *bar = strstr(args, " | ");
		const size_t len = bar ? (size_t)(bar - args) : strlen(args);

		printf("%s memtap %s%s%.*s\n", lines ? "      " : "Usage:", cmd->name,
		       len ? " " : "", (int)len, args);
		lines++;
		args = bar ? bar + 3 : NULL;
	} while (args);
	return lines;
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

void help_command(const struct cmd *cmd, bool all)
{
	const struct topic *t = topic_of(cmd->name);
	size_t lines = print_usage(cmd) + 1;

	printf("%s.\n", cmd->summary);
	if (t) {
		printf("\n%s\nExamples:\n  %s\n  %s\n", t->text, t->examples[0], t->examples[1]);
		lines += count_lines(t->text) + 5;
	}
	putchar('\n');
	lines++;
	opt_print_help(cmd->options, cmd->name, all ? 0 : HELP_LINES - lines, stdout);
}
