// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "base/err.h"
#include "watch/watch.h"

#define BOTH	(MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK)

const struct question question_stacks = {
	.title = "events",
	.stacks = BOTH,
	.by = BY_PROCESS,
};

const struct question question_faults = {
	.title = "page faults",
	.events = { "fault" },
	.stacks = MEMTAP_CFG_USTACK,
	.by = BY_PROCESS,
};

const struct question question_brk = {
	.title = "heap growth by brk()",
	.events = { "brk" },
	.stacks = MEMTAP_CFG_USTACK,
	.by = BY_PROCESS,
};

const struct question question_mmap = {
	.title = "mappings",
	.events = { "mmap", "mremap" },
	.more = { "mmap", "mremap", "munmap" },
	.stacks = MEMTAP_CFG_USTACK,
	.by = BY_PROCESS,
};

const struct question question_stat = {
	.title = "counts",
	.by = BY_NONE,
	.show = SHOW_STAT,
	.all_events = true,
};

const struct question question_record = {
	.title = "recorded events",
	.stacks = BOTH,
	.by = BY_PROCESS,
	.show = SHOW_FILE,
	.all_events = true,
};

const struct question question_leaks = {
	.title = "allocated and not freed",
	.events = { "mmap", "mremap", "munmap" },
	.stacks = MEMTAP_CFG_USTACK,
	.by = BY_PROCESS,
	.leaks = true,
};

static int check_record(const struct cmd *cmd, const struct opts *o)
{
	const char *name;

	if (!o->out)
		return usage_error(cmd->name, "record needs a file: -o FILE");
	if (o->interval > 0)
		return usage_error(cmd->name, "a recording has no intervals; "
				   "-d says how long it is");
	name = opt_beyond(o, o->leaks ? OPTS_FOLLOW | OPT_OUT | OPT_RECORD :
			  cmd->options & ~OPT_LEAKS);
	if (name)
		return usage_error(cmd->name, o->leaks ? "--%s: not with --leaks" :
				   "--%s is about blocks: say --leaks, too", name);
	return 0;
}

static int check(const struct cmd *cmd, const struct opts *o)
{
	const struct question *q = cmd->question;
	const bool fixed = q->events[0];
	int ret;

	if (q->leaks || o->leaks) {
		ret = leaks_check(o, cmd->name, o->leaks);
		if (ret)
			return ret;
	} else if (o->sort + 1 == SORT_AGE) {
		return usage_error(cmd->name, "--sort age is about blocks, see `memtap leaks`");
	}
	if (fixed && o->args.nr)
		return usage_error(cmd->name, "'%s': the events of `%s` are fixed",
				   o->args.at[0], cmd->name);
	if (!fixed && !q->all_events && !o->args.nr)
		return usage_error(cmd->name, "say which event to count");
	return q->show == SHOW_FILE ? check_record(cmd, o) : 0;
}

int cmd_watch(const struct cmd *cmd, struct opts *o)
{
	const struct question *q = cmd->question;
	struct watch *w;
	int ret;

	ret = check(cmd, o);
	if (ret)
		return ret;
	w = calloc(1, sizeof(*w));
	if (!w)
		return fail(ERR_PLAIN, ENOMEM, "%s", "starting");
	w->q = q;
	w->o = o;
	w->cmd = cmd->name;
	ret = watch_run(w);
	free(w);
	return ret;
}
