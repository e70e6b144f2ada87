// SPDX-License-Identifier: GPL-2.0-or-later
/* Test other kinds of probes and unwinding; report features that are missing here. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "session/dev.h"
#include "target/maps.h"
#include "selftest/watch.h"

static const struct watch_ask ask_ways = {
	.stacks = MEMTAP_CFG_USTACK,
};

/* Each calls its function a known number of times in st_work_grow(). */
static const struct way {
	const char *name, *format;	/* %s: where the function is */
	__s64 calls;
	bool in_kernel, is_return;
} ways[] = {
	{ "kernel function", "k:%s", ST_BRK_CALLS + 1, true, false },
	{ "kernel function, return", "kr:%s", ST_BRK_CALLS + 1, true, true },
	{ "user function", "u:%s:selftest_map", 1, false, false },
	{ "user function, return", "ur:%s:selftest_unmap", 1, false, true },
};

#define WAYS	(sizeof(ways) / sizeof(ways[0]))

static void put_way(struct st_run *r, const struct st_watch *w, const struct way *way,
		    const char *name)
{
	char event[MEMTAP_NAME_LEN + sizeof(SNAP_RETURN)];
	struct st_check c = { .name = way->name };

	snprintf(event, sizeof(event), "%s%s", name, way->is_return ? SNAP_RETURN : "");
	c.numbers[0] = (struct st_number){ "calls", way->calls,
			(__s64)st_sum_user(w->now, r->sym, event, NULL, NULL).count };
	snprintf(c.text, sizeof(c.text), "%s", name);
	c.verdict = st_compare(&c);
	st_put(&r->out, &c);
}

/* The one that touched the pages, and who called it: both keep frame pointers. */
static void put_chains(struct st_run *r, const struct st_watch *w, int faults)
{
	const struct st_sum in = st_sum_user(w->now, r->sym, "minor-fault", "selftest_touch",
					     "selftest_keep");
	struct st_check c = {
		.name = "frame pointers",
		.numbers = { { "stacks", faults, (__s64)in.count } },
		.text = "of selftest_touch, called by selftest_keep",
	};

	c.verdict = st_compare(&c);
	st_put(&r->out, &c);
}

static int count(struct st_run *r, struct st_watch *w, struct st_child *child)
{
	size_t item = 0;
	int faults;

	if (st_watch_start(w))
		return EXIT_FAILURE;
	faults = st_child_step(child, ST_KEEP);
	if (faults < 0 || st_child_step(child, ST_GIVE_BACK) || st_watch_stop(w))
		return EXIT_FAILURE;
	put_chains(r, w, faults);
	for (size_t i = 0; i < WAYS; i++)
		if (!ways[i].in_kernel || r->brk_function[0])
			put_way(r, w, &ways[i], w->plan.items[item++].attach.name);
		else
			st_say(&r->out, ST_NOT_HERE, ways[i].name, "brk has no hook here: not "
			       "tested");
	st_put_account(r, w->now, "accounts of these probes");
	return 0;
}

static void choose(struct st_run *r, struct opts *o, char texts[WAYS][4400], const char *self)
{
	o->unwind = UNWIND_FP;
	o->args.at[o->args.nr++] = "minor-fault";
	for (size_t i = 0; i < WAYS; i++) {
		if (ways[i].in_kernel && !r->brk_function[0])
			continue;
		snprintf(texts[i], sizeof(texts[i]), ways[i].format,
			 ways[i].in_kernel ? r->brk_function : self);
		o->args.at[o->args.nr++] = texts[i];
	}
}

void st_ways(struct st_run *r)
{
	static char texts[WAYS][4400], self[4096];
	struct st_child child = { 0 };
	struct st_watch *w = NULL;

	st_own_path(self, sizeof(self));
	if (!st_child_start(&child, st_work_grow) && !st_child_step(&child, ST_PREPARE))
		w = st_watch_new(r, &ask_ways, NULL, child.pid);
	if (w)
		choose(r, &w->o, texts, self);
	if (!w || count(r, w, &child))
		st_say(&r->out, ST_FAILED, "probes on functions", "could not be counted");
	st_watch_free(w);
	st_child_end(&child);
}

/* ---- what the module and the kernel say of themselves ---- */

static const struct {
	__u64 bit;
	bool wanted;
	const char *name, *means;
} features[] = {
	{ MEMTAP_FEATURE_ROWS, true, "stacks by tables",
	  "user stacks end in code without frame pointers, as in most libraries" },
	{ MEMTAP_FEATURE_LIVE, true, "live blocks", "memtap leaks does not work" },
	{ MEMTAP_FEATURE_CGROUP1, true, "cgroup v1", "--cgroup cannot name a v1 group" },
	{ MEMTAP_FEATURE_CGROUP2, true, "cgroup v2", "--cgroup cannot name a v2 group" },
	{ MEMTAP_FEATURE_UREFCTR, true, "USDT semaphores",
	  "USDT probes that wait to be enabled do not fire" },
	{ MEMTAP_FEATURE_TP_PROBE, true, "tracepoints by name",
	  "they are counted by perf, which needs tracefs" },
	{ MEMTAP_FEATURE_PUSH, true, "probes on push",
	  "a probe on a function that begins with push costs two traps instead of one" },
	{ MEMTAP_FEATURE_UPROBE32, true, "32-bit programs",
	  "this kernel would crash or hang some that are probed: no probes on returns and calls "
	  "in them, or none in those without ASLR" },
	{ MEMTAP_FEATURE_URET_SYSCALL, false, "return probes by a trap",
	  "they make a program call the kernel, which its seccomp filter may refuse" },
};

#define KPROBES_ON	"/sys/kernel/debug/kprobes/enabled"

/* "0" there switches something off. */
static bool is_off(const char *path)
{
	char *text;
	size_t len;
	bool off;

	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return false;
	off = text[0] == '0';
	free(text);
	return off;
}

void st_features(struct st_run *r, const struct memtap_info *info)
{
	unsigned int here = 0, all = 0;
	char words[256];

	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++, all++) {
		if (!(info->features & features[i].bit) != features[i].wanted)
			here++;
		else
			st_say(&r->out, ST_NOT_HERE, features[i].name, "%s", features[i].means);
	}
	if (is_off(KPROBES_ON))
		st_say(&r->out, ST_NOT_HERE, "kernel probes", "%s",
		       err_words(ERR_KPROBES, 0, KPROBES_ON, words, sizeof(words)));
	st_say(&r->out, ST_OK, "features", "%u of %u are here", here, all);
}
