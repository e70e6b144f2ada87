// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap diff`: compare two recordings. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "cmd/cmd.h"
#include "cmd/diff_heap.h"
#include "cmd/file.h"
#include "cmd/fleet.h"
#include "cmd/show.h"
#include "leaks/leaks.h"

/* Are they answers to the same question?  An exit status. */
static int check(const struct cmd *cmd, const struct opts *o, const struct snap *was,
		 const struct snap *now)
{
	const char *const *file = o->args.at;

	if (leaks_kept(was) != leaks_kept(now))
		return usage_error(cmd->name, "%s has live blocks, %s has events: they cannot be "
				   "compared", file[leaks_kept(was) ? 0 : 1],
				   file[leaks_kept(was) ? 1 : 0]);
	if (leaks_kernel(was) != leaks_kernel(now))
		return usage_error(cmd->name, "%s records kernel memory, %s does not: they cannot "
				   "be compared", file[leaks_kernel(was) ? 0 : 1],
				   file[leaks_kernel(was) ? 1 : 0]);
	for (size_t i = 0; i < was->nr_events; i++)
		for (size_t k = 0; k < now->nr_events; k++)
			if (!strcmp(was->events[i].name, now->events[k].name) &&
			    was->events[i].unit != now->events[k].unit)
				return usage_error(cmd->name, "the values of %s have different "
						   "units in the two files: they "
						   "cannot be compared",
						   was->events[i].name);
	if (o->by == BY_FILE && !(was->header.flags & now->header.flags & MEMTAP_CFG_FILES))
		return usage_error(cmd->name, "--by file: a recording has no files; record both "
				   "with --files or --by file");
	if (opt_by_kernel(o->by) && !leaks_kernel(now))
		return usage_error(cmd->name, "--by stack, cache and module need recordings of "
				   "kernel memory");
	return 0;
}

static int write_to(const struct render_side sides[2], const struct render_opts *r,
		    const char *path, const char *csv)
{
	struct out out = { 0 };
	int err = out_open(&out, path);

	if (err)
		return fail(ERR_WRITE, err, "%s", path);
	if (csv)
		err = out_csv(&out, csv);
	if (!err)
		err = render_diff(sides, r, out.f);
	if (err)
		out_abort(&out);
	else
		err = out_commit(&out);
	return err ? fail(ERR_WRITE, err, "%s", path ? path : "standard output") : 0;
}

/* Processes of two recordings have other numbers: their names tell rows apart. */
static struct render_opts diff_opts(const struct opts *o, const struct snap *now)
{
	struct render_opts r = show_render_opts(o);

	if (o->by < 0)
		r.rows.by = BY_PROGRAM;
	if (leaks_kernel(now))
		show_kernel_opts(&r, o);
	return r;
}

static int show(const struct opts *o, struct snap *const snaps[2])
{
	static const struct sym_opts defaults;
	struct render_opts r = diff_opts(o, snaps[1]);
	struct render_side sides[2];
	int ret = 0;

	for (int i = 0; i < 2; i++) {
		sides[i] = (struct render_side){ snaps[i], sym_new(&defaults), o->args.at[i],
						 file_note(snaps[i], "title") };
		if (!sides[i].sym)
			ret = fail(ERR_PLAIN, ENOMEM, "%s", "symbols");
	}
	for (int i = 0; !ret && i < 2; i++) {
		const struct select sel = { .o = o };

		ret = file_select(snaps[i], sides[i].sym, &sel, o->args.at[i]);
		if (!ret)
			file_left_out(snaps[i], o->args.at[i]);
	}
	if (!ret)
		ret = write_to(sides, &r, o->out, o->csv);
	if (!ret && o->flame) {
		r.format = FORMAT_FLAME;
		ret = write_to(sides, &r, o->flame, NULL);
		if (!ret)
			note("flame graph written to %s", o->flame);
	}
	for (int i = 0; i < 2; i++)
		sym_free(sides[i].sym);
	return ret;
}

int cmd_diff(const struct cmd *cmd, struct opts *o)
{
	struct snap *snaps[2] = { NULL, NULL };
	int ret = 0;

	if (o->hosts)
		return fleet_diff(cmd, o);
	if (o->max_mem || o->first_args)
		return usage_error(cmd->name, "%s is for --hosts, which compares groups",
				   o->max_mem ? "--max-mem" : "--");
	if (opt_nr_args(o) != 2)
		return usage_error(cmd->name, "diff compares two files: memtap diff BEFORE AFTER");
	if (diff_is_heap(o->args.at[0]) || diff_is_heap(o->args.at[1]))
		return diff_heaps(cmd, o);
	if (!(FORMATS_DIFF >> o->format & 1))
		return usage_error(cmd->name, "--format %s cannot show a difference: table, "
				   "folded, flame and json can", format_words[o->format]);
	if (o->sort + 1 == SORT_MAX || o->sort + 1 == SORT_AGE || o->sort + 1 == SORT_SLOPE)
		return usage_error(cmd->name, "--sort: diff orders rows by their change in count "
				   "or value");
	for (int i = 0; i < 2 && !ret; i++)
		ret = file_read(o->args.at[i], &snaps[i]);
	if (!ret)
		ret = check(cmd, o, snaps[0], snaps[1]);
	if (!ret)
		ret = show(o, snaps);
	snap_free(snaps[0]);
	snap_free(snaps[1]);
	return ret;
}
