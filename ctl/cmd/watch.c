// SPDX-License-Identifier: GPL-2.0-or-later
/* The recording commands: their settings, and checks of their options. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "cmd/cmd.h"
#include "cmd/mark.h"
#include "cmd/parts.h"
#include "cmd/question.h"
#include "leaks/leaks.h"
#include "render/render.h"
#include "target/maps.h"
#include "target/procs.h"
#include "target/target.h"

#define BOTH	(MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK)

const struct question question_stacks = {
	.title = "events",
	.ask = &(const struct watch_ask){ .stacks = BOTH },
	.by = BY_PROCESS,
};

const struct question question_faults = {
	.title = "page faults",
	.ask = &(const struct watch_ask){
		.events = { "fault" },
		.stacks = MEMTAP_CFG_USTACK,
	},
	.by = BY_PROCESS,
};

static const struct watch_ask ask_rss = {
	.events = { "fault", "mremap", "populate" },
	.stacks = MEMTAP_CFG_USTACK,
	.rss = true,
};

static const struct question question_record_rss = {
	.title = "resident memory",
	.ask = &ask_rss,
	.by = BY_PROCESS,
	.show = SHOW_FILE,
};

const struct question question_rss = {
	.title = "resident memory",
	.ask = &ask_rss,
	.by = BY_PROCESS,
	.record = &question_record_rss,
};

static const struct question question_major = {
	.title = "page faults that waited for I/O",
	.ask = &(const struct watch_ask){
		.events = { "major-fault" },
		.stacks = MEMTAP_CFG_USTACK,
		.value = "latency",
	},
	.by = BY_PROCESS,
};

const struct question question_brk = {
	.title = "heap growth by brk()",
	.ask = &(const struct watch_ask){
		.events = { "brk" },
		.stacks = MEMTAP_CFG_USTACK,
	},
	.by = BY_PROCESS,
};

const struct question question_mmap = {
	.title = "mappings",
	.ask = &(const struct watch_ask){
		.events = { "mmap", "mremap", "munmap", "mprotect" },
		.stacks = MEMTAP_CFG_USTACK,
	},
	.by = BY_PROCESS,
	.sums_only = "munmap",
};

static const struct question question_snoop = {
	.title = "mappings",
	.ask = &(const struct watch_ask){
		.events = { "mmap" },
		.each = true,
		.fields = true,
	},
	.by = BY_NONE,
	.show = SHOW_EACH,
	.form = EACH_MMAP,
};

static const struct question question_snoop_all = {
	.title = "mappings",
	.ask = &(const struct watch_ask){
		.events = { "mmap", "mremap", "munmap", "mprotect", "madvise" },
		.each = true,
		.fields = true,
	},
	.by = BY_NONE,
	.show = SHOW_EACH,
	.form = EACH_MMAP,
};

const struct question question_shmem = {
	.title = "shared memory",
	.ask = &(const struct watch_ask){
		.events = { "shmem" },
		.stacks = MEMTAP_CFG_USTACK,
		.files = true,
	},
	.by = BY_PROCESS,
};

const struct question question_shm = {
	.title = "calls about shared memory",
	.ask = &(const struct watch_ask){
		.events = { "shm" },
		.each = true,
		.fields = true,
	},
	.by = BY_NONE,
	.show = SHOW_EACH,
	.form = EACH_SHM,
};

const struct question question_stat = {
	.title = "counts",
	.ask = &(const struct watch_ask){ .all_events = true },
	.by = BY_NONE,
	.show = SHOW_STAT,
};

const struct question question_count = {
	.title = "values",
	.ask = &(const struct watch_ask){ .stacks = 0 },
	.by = BY_NONE,
	.show = SHOW_DIST,
};

const struct question question_hist = {
	.title = "histograms",
	.ask = &(const struct watch_ask){ .hist = true },
	.by = BY_NONE,
	.show = SHOW_DIST,
};

const struct question question_trace = {
	.title = "single events",
	.ask = &(const struct watch_ask){ .each = true },
	.by = BY_NONE,
	.show = SHOW_EACH,
};

const struct question question_record = {
	.title = "recorded events",
	.ask = &(const struct watch_ask){
		.stacks = BOTH,
		.all_events = true,
	},
	.by = BY_PROCESS,
	.show = SHOW_FILE,
};

const struct question question_leaks = {
	.title = "allocated and not freed",
	.ask = &watch_ask_leaks,
	.by = BY_PROCESS,
};

static const struct watch_ask ask_objects = {
	.events = { "slab" },
	.stacks = MEMTAP_CFG_KSTACK,
	.objects = true,
};

static const struct question question_objects = {
	.title = "allocated and not freed by the kernel",
	.ask = &ask_objects,
	.by = BY_NONE,
};

const struct question question_slab = {
	.title = "the kernel's caches",
	.ask = &(const struct watch_ask){
		.events = { "slab" },
		.objects = true,
		.rates = true,
	},
	.by = BY_NONE,
	.show = SHOW_CACHES,
};

const struct question question_pages = {
	.title = "the kernel's pages",
	.ask = &(const struct watch_ask){
		.events = { "pages" },
		.objects = true,
		.rates = true,
	},
	.by = BY_NONE,
	.show = SHOW_CACHES,
};

/* pages --order N: who asks */
static const struct question question_order = {
	.title = "pages that are asked for",
	.ask = &(const struct watch_ask){
		.events = { "page-alloc" },
		.stacks = MEMTAP_CFG_KSTACK,
	},
	.by = BY_PROCESS,
};

static const struct question question_record_objects = {
	.title = "allocated and not freed by the kernel",
	.ask = &ask_objects,
	.by = BY_NONE,
	.show = SHOW_FILE,
};

#define LEAST_SIZE	(64 << 10)	/* of --switch-size: names of events are in each file */

/* A recording in several files. */
static int check_parts(const struct cmd *cmd, const struct question *q, const struct opts *o)
{
	const bool apart = parts_apart(q, o);

	if (o->keep && !(o->switch_time > 0) && !o->switch_size)
		return usage_error(cmd->name, "--keep needs --switch-time or --switch-size");
	if (o->switch_time > 0 && o->switch_time < 1)
		return usage_error(cmd->name, "--switch-time is at least 1s");
	if (o->switch_size && o->switch_size < LEAST_SIZE)
		return usage_error(cmd->name, "--switch-size is at least 64K");
	if (o->switch_size && apart)
		return usage_error(cmd->name, "--switch-size: not with %s, of which each file "
				   "has all that is there; --switch-time can be used",
				   o->leaks ? "--leaks" : "rss");
	if (o->switch_time > 0 && o->argv && apart)
		return usage_error(cmd->name, "--switch-time with %s records what runs (-p, "
				   "--comm, --cgroup): each file is a session of its own, and a "
				   "program to run is started once", o->leaks ? "--leaks" : "rss");
	if ((o->switch_time > 0 || o->switch_size) && o->delay)
		return usage_error(cmd->name, "--switch-time and --switch-size: not with --delay");
	return 0;
}

static int check_record(const struct cmd *cmd, const struct question *q, const struct opts *o)
{
	const char *name;
	int ret;

	if (!o->out)
		return usage_error(cmd->name, "record needs a file: -o FILE");
	if (o->interval > 0 && o->leaks && o->kernel_memory)
		return usage_error(cmd->name, "a recording of kernel memory has no intervals; -d "
				   "sets its duration");
	if (!o->leaks && (o->kernel_memory || o->cache || o->module || o->call_site))
		return usage_error(cmd->name, "-k, --cache, --module and --call-site need "
					      "--leaks");
	ret = check_parts(cmd, q, o);
	if (ret)
		return ret;
	if (o->delay && o->leaks)
		return usage_error(cmd->name, "--delay: not with --leaks, which must see each "
				   "allocation");
	name = opt_foreign(o, o->leaks ? OPTS_FOLLOW | OPT_BY | OPT_OUT | OPT_RECORD | OPT_DRAIN :
			   cmd->options & ~(OPT_LEAKS | OPT_DRAIN));
	if (name)
		return usage_error(cmd->name, o->leaks ? "--%s: not with --leaks" :
				   "--%s needs --leaks", name);
	return mark_check(o, cmd->name);
}

#define MOST_SECONDS	60		/* of an interval that may be meant */

static bool is_targeted(const struct opts *o)
{
	return o->argv || o->command || o->pids.nr || o->tids.nr || o->comms.nr ||
	       o->cgroups.nr || o->system;
}

/* 1 is everywhere, and an interval that many ask for. */
static bool may_be_meant(__u64 id)
{
	return id > 1 && id <= OPT_MAX_ID && procs_has_memory((pid_t)id);
}

/* A program that was named without the -- before it. */
static int check_program(const struct cmd *cmd, const struct opts *o)
{
	const char *name = o->args.nr ? o->args.at[0] : NULL;
	char path[PATH_MAX];

	if (!name || o->argv)
		return 0;
	if (target_find(name, path, sizeof(path)))
		return strchr(name, '/') ?
			usage_error(cmd->name, "there is no program '%s'; put a program "
				    "to run after --, as in memtap %s -- PROGRAM", name,
				    cmd->name) : 0;
	return usage_error(cmd->name, "%s is a program (did you mean `memtap %s -- %s`?)", name,
			   cmd->name, name);
}

/* A process that was named without the -p before it would be an interval, for all. */
static int check_number(const struct cmd *cmd, const struct opts *o)
{
	const char *text = o->interval_text;
	__u64 id;

	if (!text || is_targeted(o) || !opt_u64(text, &id) || id <= MOST_SECONDS ||
	    !may_be_meant(id))
		return 0;
	return usage_error(cmd->name, "%s is a process (did you mean `memtap %s -p %s`?); an "
			   "interval of that length is %ss", text, cmd->name, text, text);
}

/* `-p $(pidof x)`: what the shell made of it shall not watch less, or something else. */
static int check_ids(const struct cmd *cmd, const struct opts *o)
{
	const char *letter = o->pids.nr ? "-p" : "--tid";
	const __u32 first = o->pids.nr ? o->pids.at[0] : o->tids.nr ? o->tids.at[0] : 0;
	__u64 id;

	for (size_t i = 0; i < o->more_ids.nr; i++)
		if (!may_be_meant(o->more_ids.at[i]))
			return usage_error(cmd->name, "%u after %s is not a process that can be "
					   "recorded; write several as %s 1,2,3, and interval and "
					   "count at the end", o->more_ids.at[i], letter,
					   letter);
	if (o->unsure && opt_u64(o->unsure, &id) && may_be_meant(id))
		return usage_error(cmd->name, "%s is a process, but would be an interval here; "
				   "write several processes as %s %u,%s or in quotes, and the "
				   "interval as %s.0",
				   o->unsure, letter, first, o->unsure, o->unsure);
	return 0;
}

/* Pages are asked of processes that can be named, and of all their blocks. */
static int check_stale(const struct cmd *cmd, const struct opts *o)
{
	if (!(o->stale > 0))
		return 0;
	if (!(o->argv || o->pids.nr || o->comms.nr || o->cgroups.nr) || o->system)
		return usage_error(cmd->name, "--stale needs a target: -p PID, --comm, "
				   "--cgroup or a command after --");
	if (o->duration > 0 && o->duration < o->stale)
		return usage_error(cmd->name, "--stale: in -d %g seconds no memory can be unused "
				   "for %g seconds", o->duration, o->stale);
	if (o->trace)
		return usage_error(cmd->name, "--stale affects the report: it cannot be used with "
				   "--trace");
	return 0;
}

/* What is printed as it comes is no report. */
#define SNOOPS	(OPT_TARGET | OPT_ALL | OPT_RUN | OPT_SELECT | OPT_OUT | OPT_MMAP | OPT_KINDS | \
		 OPT_WALK | OPT_EACH)

static int check_snoop(const struct cmd *cmd, const struct opts *o)
{
	const char *name = opt_foreign(o, SNOOPS);

	return name ? usage_error(cmd->name, "--%s: not with --snoop", name) : 0;
}

#define HUGES	(OPT_TARGET | OPT_ALL | OPT_RUN | OPT_KINDS | OPT_JSON | OPT_OUT | OPT_PRESSURE | \
		 OPT_FAULTS)

static int check_huge(const struct cmd *cmd, const struct opts *o)
{
	const char *name = o->major ? "major" : opt_foreign(o, HUGES);

	return name ? usage_error(cmd->name, "--%s: not with --huge", name) : 0;
}

static int check_rss(const struct cmd *cmd, const struct opts *o)
{
	if (o->max_pause && !o->retained)
		return usage_error(cmd->name, "--max-pause needs --retained");
	if (!o->retained)
		return 0;
	if (!o->pids.nr)
		return usage_error(cmd->name, "--retained stops and reads processes: name them "
				   "with -p PID");
	if (o->by == BY_MAPPING)
		return usage_error(cmd->name, "--retained and --by mapping exclude each other");
	return 0;
}

static int check_by(const struct cmd *cmd, const struct question *q, const struct opts *o)
{
	if (q->show == SHOW_BESIDE && (o->by == BY_PROGRAM || o->by == BY_FILE ||
				       o->by == BY_MAPPING))
		return usage_error(cmd->name, "--by: process, thread, comm, cgroup, container or "
				   "none");
	if (q->show == SHOW_DIST && (o->by == BY_PROGRAM || o->by == BY_CGROUP ||
				     o->by == BY_CONTAINER))
		return usage_error(cmd->name, "--by: process, thread, comm, none, or an argument's "
				   "name");
	if (q->show == SHOW_DIST && o->folded)
		return usage_error(cmd->name, "--folded needs stacks; --flame shows values, too");
	if ((o->by == BY_FILE || o->by == BY_MAPPING) && q->ask->leaks)
		return usage_error(cmd->name, "--by file and mapping: live blocks have neither");
	if ((o->by == BY_FILE || o->by == BY_MAPPING) && o->addresses)
		return usage_error(cmd->name, "--by file or mapping and --addresses exclude each "
				   "other");
	return 0;
}

static int check(const struct cmd *cmd, const struct question *q, const struct opts *o)
{
	const bool fixed = q->ask->events[0] || q->ask->picks;
	int ret = check_ids(cmd, o);

	if (!ret)
		ret = check_number(cmd, o);
	if (!ret && fixed)
		ret = check_program(cmd, o);
	if (!ret && q->ask->rss)
		ret = check_rss(cmd, o);
	if (ret)
		return ret;
	if (q->ask->leaks || o->leaks) {
		ret = leaks_check(o, cmd->name, o->leaks);
		if (!ret)
			ret = leaks_look_check(o, cmd->name);
		if (ret)
			return ret;
	} else if (o->sort + 1 == SORT_AGE || o->sort + 1 == SORT_SLOPE) {
		return usage_error(cmd->name, "--sort age and slope need live blocks; see `memtap "
				   "leaks`");
	}
	if (opt_by_kernel(o->by))
		return usage_error(cmd->name, "--by %s is for kernel memory: `memtap leaks -k`",
				   o->by == BY_STACK ? "stack" :
				   o->by == BY_CACHE ? "cache" : "module");
	if (fixed && o->args.nr)
		return usage_error(cmd->name, "'%s': `memtap %s` takes no EVENT; `memtap stacks "
				   "EVENT` does", o->args.at[0], cmd->name);
	if (!fixed && !q->ask->all_events && !o->args.nr)
		return usage_error(cmd->name, "name an event to count");
	ret = check_by(cmd, q, o);
	if (ret)
		return ret;
	if (o->string_size && (o->string_size < MEMTAP_SHORT_TEXT ||
			       o->string_size > MEMTAP_LONG_TEXT))
		return usage_error(cmd->name, "--string-size: %u to %u bytes", MEMTAP_SHORT_TEXT,
				   MEMTAP_LONG_TEXT);
	if (o->linear && o->by_arg)
		return usage_error(cmd->name, "--linear and --by %s exclude each other", o->by_arg);
	if (o->joint && o->by_arg)
		return usage_error(cmd->name, "--joint and --by %s exclude each other", o->by_arg);
	if (q->show == SHOW_EACH && o->addresses && !o->stacks)
		return usage_error(cmd->name, "--addresses are those of stacks: --stacks prints "
				   "them");
	if (o->unix_time && o->timestamps)
		return usage_error(cmd->name, "--unix-time and -T exclude each other");
	if (o->repeat && o->interval > 0)
		return usage_error(cmd->name, "-r prints means of whole runs: it excludes an "
				   "interval");
	if (o->repeat && !(o->duration > 0) && !o->argv)
		return usage_error(cmd->name, "-r needs a command to run, or a duration (-d)");
	if (!ret)
		ret = check_stale(cmd, o);
	if (!ret && o->snoop)
		ret = check_snoop(cmd, o);
	if (!ret && o->huge)
		ret = check_huge(cmd, o);
	if (ret)
		return ret;
	if (q->show == SHOW_EACH && o->interval > 0)
		return usage_error(cmd->name, "each event is printed when it occurs, there are no "
				   "intervals; -d sets the duration");
	return q->show == SHOW_FILE ? check_record(cmd, q, o) : 0;
}

/*
 * `memtap record reclaim`: what the command of this name asks for, which are no events of ours
 * alone.  Together with others it is the group of events that is called so, where there is one.
 */
static const struct {
	const char *name;
	const struct question *q;
	bool is_group;
} recordable[] = {
	{ "reclaim", &question_reclaim, true }, { "vmscan", &question_vmscan, false },
	{ "swap", &question_swap, true }, { "compact", &question_compact, true },
	{ "migrate", &question_migrate, false }, { "rss", &question_rss, false },
};

#define NR_RECORDABLE	(sizeof(recordable) / sizeof(recordable[0]))

static const struct question *recorded(const struct opts *o)
{
	for (size_t i = 0; o->args.nr == 1 && i < NR_RECORDABLE; i++) {
		if (strcmp(recordable[i].name, o->args.at[0]))
			continue;
		if (!o->numa)
			return recordable[i].q->record;
		return recordable[i].q == &question_migrate ? question_numa.record : NULL;
	}
	return NULL;
}

static int check_recorded(const struct cmd *cmd, const struct opts *o)
{
	if (o->numa)
		return usage_error(cmd->name, "--numa is for migrate: `memtap record migrate "
				   "--numa`");
	for (size_t a = 0; o->args.nr > 1 && a < o->args.nr; a++)
		for (size_t i = 0; i < NR_RECORDABLE; i++)
			if (!recordable[i].is_group &&
			    !strcmp(recordable[i].name, o->args.at[a]))
				return usage_error(cmd->name, "%s cannot be recorded together with "
						   "other events: it names a command, not an event",
						   o->args.at[a]);
	return 0;
}

/* Where nothing will be seen, it is said why. */
static void warn_no_numa(void)
{
	char *text;
	size_t len;

	if (!maps_slurp(AT_FDCWD, "/proc/sys/kernel/numa_balancing", &text, &len)) {
		if (text[0] == '0')
			note("NUMA balancing is off; sysctl kernel.numa_balancing=1 turns it on");
		free(text);
	}
	if (access("/sys/devices/system/node/node0", F_OK) == 0 &&
	    access("/sys/devices/system/node/node1", F_OK))
		note("this machine has one NUMA node: there is nothing to balance");
}

/* The same events may be asked for in several renderings. */
static int choose(const struct cmd *cmd, struct opts *o, const struct question **q)
{
	*q = o->snoop ? (o->all ? &question_snoop_all : &question_snoop) :
	     o->huge ? &question_huge : o->numa && cmd->question->show != SHOW_FILE ?
	     &question_numa : o->waste && o->call_site ? &question_callers :
	     o->major ? &question_major : cmd->question;
	if ((*q)->show == SHOW_FILE && !o->leaks && recorded(o)) {
		*q = recorded(o);
		o->args.nr = 0;
		if ((*q)->ask->rss && o->interval > 0)
			return usage_error(cmd->name, "a recording of resident memory has no "
					   "intervals; -d sets its duration");
	} else if ((*q)->show == SHOW_FILE) {
		const int ret = check_recorded(cmd, o);

		if (ret)
			return ret;
	}
	/* who asks for one of them asks for stacks */
	if ((o->user || o->kernel) && ((*q)->stacks || (*q)->show == SHOW_EACH))
		o->stacks = true;
	if ((*q)->stacks && o->stacks && o->hist)
		return usage_error(cmd->name, "--stacks, which -U and -K ask for, and --hist "
				   "exclude each other");
	if ((*q)->stacks && o->stacks) {
		*q = (*q)->stacks;
		if (o->sort < 0)
			o->sort = SORT_VALUE - 1;
	} else if ((*q)->hist && o->hist) {
		*q = (*q)->hist;
	} else if ((*q)->show == SHOW_EACH && (*q)->stacks && o->by >= 0) {
		return usage_error(cmd->name, "--by needs --stacks or --hist");
	}
	/* as vmstat does where nothing is said */
	if (((*q)->show == SHOW_BESIDE || (*q)->show == SHOW_CACHES) && !(o->interval > 0))
		o->interval = 1;
	return 0;
}

/* Of the kernel there is but one, and it was not started by us. */
static int check_kernel(const struct cmd *cmd, const struct opts *o)
{
	const char *beyond = opt_foreign(o, OPTS_KERNEL);

	if (o->trace && o->format > FORMAT_TABLE)
		return usage_error(cmd->name, "--trace prints one line per call: not with --json "
					      "or --format");
	if (o->stacks && !o->trace)
		return usage_error(cmd->name, "--stacks needs --trace: the report always has "
					      "stacks");
	if (beyond || o->argv)
		return usage_error(cmd->name, "-k and %s%s exclude each other: -k is about "
				   "the whole kernel", beyond ? "--" : "a command",
				   beyond ? beyond : "");
	if (o->similar && (o->format > FORMAT_TABLE || o->quiet))
		return usage_error(cmd->name, "--similar prints at the end of the report: not "
					      "with --json, --format and --quiet");
	if (o->similar && (o->percpu || o->order_given))
		return usage_error(cmd->name, "--similar is for slabs: it cannot be used with "
				   "--order and --percpu");
	if (leaks_totals(o))
		return usage_error(cmd->name, "--peak, --temporary, --allocated and --format "
				   "heaptrack are for programs: they cannot be used with -k");
	if (o->suppressions.nr || o->gen_suppressions || o->show_reachable || o->show_loader)
		return usage_error(cmd->name, "--suppressions, --gen-suppressions, "
				   "--show-reachable and --show-loader are for programs: they "
				   "cannot be used with -k");
	if (o->format == FORMAT_XML)
		return usage_error(cmd->name, "%s", RENDER_XML_UNFIT);
	if (o->sample_bytes && o->sample_rate > 1)
		return usage_error(cmd->name, "--sample-bytes and --sample-rate exclude each "
				   "other");
	if (o->call_site && o->module)
		return usage_error(cmd->name, "--module needs complete stacks: it cannot be used "
				   "with --call-site");
	if (o->cache && (o->order_given || o->percpu || o->all_pages))
		return usage_error(cmd->name, "--cache is for slabs: it cannot be used with "
				   "--order, --percpu and --all-pages");
	if (o->order_given && o->percpu)
		return usage_error(cmd->name, "--order is for pages: it cannot be used with "
				   "--percpu");
	if (o->args.nr)
		return usage_error(cmd->name, "unexpected argument '%s': --cache, --order and "
				   "--module select kernel objects", o->args.at[0]);
	return 0;
}

static int check_changes(const struct cmd *cmd, const struct opts *o)
{
	if (!o->changed && !o->increased)
		return 0;
	if (!(o->interval > 0))
		return usage_error(cmd->name, "--changed and --increased compare with the last "
				   "report: add an interval, as in `memtap %s -p PID --increased "
				   "10`", cmd->name);
	if (o->format != FORMAT_TABLE && o->format != FORMAT_JSON)
		return usage_error(cmd->name, "--changed and --increased: tables and JSON only");
	return 0;
}

/* `memtap leaks 1234` may be about a process, or about the kernel every 1234 seconds. */
static int check_meant(const struct cmd *cmd, const struct opts *o)
{
	const char *text = o->interval_text;
	__u64 id;

	if (text && !o->kernel_memory && !is_targeted(o) && opt_u64(text, &id))
		return usage_error(cmd->name, "is %s a process or an interval? use `memtap leaks "
				   "-p %s` for a process, `memtap leaks -k %s` for the kernel",
				   text, text, text);
	return check_program(cmd, o);
}

int cmd_leaks(const struct cmd *cmd, struct opts *o)
{
	int ret;

	if (o->census)
		return cmd_census(cmd, o);
	ret = check_meant(cmd, o);
	if (!ret)
		ret = check_changes(cmd, o);
	if (!ret)
		ret = mark_check(o, cmd->name);
	if (ret)
		return ret;
	if (!o->kernel_memory && is_targeted(o)) {
		if (o->cache || o->module || o->call_site || o->order_given || o->percpu ||
		    o->all_pages || o->similar)
			return usage_error(cmd->name, "--cache, --module, --order, --percpu, "
					   "--all-pages, --call-site and --similar are for kernel "
					   "memory: use -k, and no process");
		return cmd_watch(cmd, o);
	}
	ret = check_kernel(cmd, o);
	return ret ? ret : question_run(&question_objects, o, cmd->name);
}

/* record --leaks -k */
static int record_kernel(const struct cmd *cmd, const struct opts *o)
{
	int ret = check_kernel(cmd, o);

	if (!ret)
		ret = check_record(cmd, &question_record_objects, o);
	return ret ? ret : question_run(&question_record_objects, o, cmd->name);
}

int cmd_slab(const struct cmd *cmd, struct opts *o)
{
	if (o->call_site && !o->waste)
		return usage_error(cmd->name, "--call-site needs --waste: it has a row for each "
				   "caller");
	if (o->call_site && o->cache)
		return usage_error(cmd->name, "--call-site: not with --cache; kmalloc() does not "
				   "say which cache it takes");
	return cmd_watch(cmd, o);
}

int cmd_pages(const struct cmd *cmd, struct opts *o)
{
	const char *beyond = opt_foreign(o, OPT_RUN | OPT_JSON | OPT_OUT);

	if (!o->order_given && beyond)
		return usage_error(cmd->name, "--%s: with --order only, which shows stacks",
				   beyond);
	if (!o->order_given)
		return cmd_watch(cmd, o);
	if (o->args.nr)
		return usage_error(cmd->name, "'%s': `memtap pages` takes no EVENT; `memtap stacks "
				   "EVENT` does", o->args.at[0]);
	if (watch_objects_order(cmd->name, o->order, NULL))
		return EXIT_USAGE;
	o->min_size = o->max_size = (__u64)sysconf(_SC_PAGESIZE) << o->order;
	return question_run(&question_order, o, cmd->name);
}

int cmd_watch(const struct cmd *cmd, struct opts *o)
{
	const struct question *q;
	int ret;

	if (cmd->question->ask->rss) {
		ret = check_changes(cmd, o);
		if (ret)
			return ret;
	}
	if (cmd->question->show == SHOW_FILE && o->leaks && o->kernel_memory)
		return record_kernel(cmd, o);
	ret = choose(cmd, o, &q);
	if (!ret)
		ret = check(cmd, q, o);
	if (!ret && o->format == FORMAT_XML && !q->ask->leaks)
		ret = usage_error(cmd->name, "%s", RENDER_XML_UNFIT);
	if (!ret && o->numa)
		warn_no_numa();
	return ret ? ret : question_run(q, o, cmd->name);
}
