// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap report`: report on a recording, by the same code as on a live session. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "base/err.h"
#include "leaks/leaks.h"
#include "leaks/run.h"
#include "cmd/file.h"
#include "cmd/fleet.h"
#include "cmd/mark.h"
#include "cmd/past.h"
#include "cmd/show.h"
#include "cmd/symbolize.h"

#define MAX_NOTES	16

/* Of options, and those that programs brought. */
static int read_suppressions(const struct snap *s, const struct opts *o, struct suppress **out)
{
	const char *known = file_note(s, "suppressions");
	char why[256];

	*out = NULL;
	if (!o->suppressions.nr && !known)
		return 0;
	if (leaks_suppressions(&o->suppressions, out))
		return EXIT_FAILURE;
	if (known && suppress_add(*out, known, strlen(known), why))
		return fail_text("suppressions in the recording: %s", why);
	return 0;
}

/* As a program's own report at its end. */
static void set_summary(const struct snap *s, const struct opts *o, struct render_opts *r)
{
	const char *why = file_note(s, "summary");

	r->summary = why;
	r->rows.trends = !why;
	if (why && *why)
		r->no_kinds = why;
	if (!o->show_reachable && !s->held)	/* --retained is about all */
		r->rows.leak_kinds = LEAKS_LOST;
}

static int write_to(const struct snap *s, struct sym *sym,
		    const struct render_opts *r, const char *path, const char *csv)
{
	struct out out = { 0 };
	int err;

	err = out_open(&out, path);
	if (err)
		return fail(ERR_WRITE, err, "%s", path);
	if (csv)
		err = out_csv(&out, csv);
	if (!err)
		err = render_report(s, sym, r, out.f);
	if (err)
		out_abort(&out);
	else
		err = out_commit(&out);
	return err ? fail(ERR_WRITE, err, "%s", path ? path : "standard output") : 0;
}

/* A table of functions or files: of the rows of each event. */
static bool is_table(const struct opts *o)
{
	return o->by == BY_FUNCTION || o->by == BY_DSO;
}

/* What asks for a table that the recording, or the format, cannot give. */
static int check_tables(const struct cmd *cmd, const struct snap *s, const struct opts *o)
{
	const enum report_sort sort = (enum report_sort)(o->sort + 1);
	bool wrong;

	if (is_table(o) && o->format != FORMAT_TABLE && o->format != FORMAT_JSON)
		return usage_error(cmd->name, "--by function and dso are tables: without --format, "
				   "or with --json; --symbol and --file select stacks for %s",
				   format_words[o->format]);
	if (is_table(o) && o->no_stacks)
		return usage_error(cmd->name, "--by function and dso need stacks: not with "
				   "--no-stacks");
	if (is_table(o) && !(s->header.flags & (MEMTAP_CFG_USTACK | MEMTAP_CFG_KSTACK)))
		return usage_error(cmd->name, "this recording has no stacks: --by function and "
				   "dso need them");
	wrong = sort == SORT_SELF || sort == SORT_TOTAL;
	if (is_table(o))
		wrong = o->sort >= 0 && !wrong &&
			sort != (o->by == BY_DSO ? SORT_DSO : SORT_FUNCTION);
	if (wrong)
		return usage_error(cmd->name, "%s", is_table(o) ? "--by function and dso: --sort "
				   "is self, total, function or dso" :
				   "--sort self and total need --by function or --by dso");
	if (s->nr_hosts && (o->by == BY_PROCESS || o->by == BY_THREAD))
		return usage_error(cmd->name, "a merged recording does not tell processes of a "
				   "program apart: --by host, program, cgroup or container");
	if (o->by == BY_THREAD && !(s->header.flags & MEMTAP_CFG_THREADS))
		return usage_error(cmd->name, "this recording does not tell threads apart: record "
				   "it with --by thread");
	return 0;
}

/* What only recordings of blocks have, is asked of one that has none. */
static int check(const struct cmd *cmd, const struct snap *s, const struct opts *o)
{
	const char *name = opt_foreign(o, cmd->options & ~(OPT_LIVE | OPT_MARKS));
	const char *unfit = render_unfit(s, (enum report_format)o->format);
	const int ret = check_tables(cmd, s, o);

	if (ret)
		return ret;
	if (!unfit && o->time_unit == TIME_BYTES)
		unfit = render_no_bytes(s);
	if (unfit)
		return usage_error(cmd->name, "%s", unfit);
	if (o->by == BY_FILE && !(s->header.flags & MEMTAP_CFG_FILES))
		return usage_error(cmd->name, "this recording has no files: record it with "
					      "--files or --by file");

	if (o->by == BY_MAPPING && !(s->header.flags & MEMTAP_CFG_MAPPINGS))
		return usage_error(cmd->name, "this recording has no mappings: record it with "
					      "--by mapping");
	if (opt_by_kernel(o->by) && !leaks_kernel(s))
		return usage_error(cmd->name, "--by stack, cache and module need a recording of "
				   "kernel memory");
	if (leaks_totals(o) && !s->peak.rec.len)
		return usage_error(cmd->name, "this recording has no totals of stacks: record it "
				   "with --leaks --peak");
	if (leaks_kept(s))
		return leaks_check_totals(o, cmd->name);
	if (name)
		return usage_error(cmd->name, "--%s needs live blocks, and this recording has none",
				   name);
	if (o->sort + 1 == SORT_AGE || o->sort + 1 == SORT_SLOPE)
		return usage_error(cmd->name, "--sort age and slope need live blocks, and this "
				   "recording has none");
	return 0;
}

/* What is asked for of the recording: events, tasks, code, and a time. */
static int select_rows(struct snap *s, struct sym *sym, const struct opts *o)
{
	struct select sel = { .o = o };
	char why[MARK_WHY];

	if (o->between && !leaks_kept(s)) {
		if (!mark_times(s, o->between, &sel.from_ns, &sel.until_ns, why))
			return fail_text("%s", why);
	}
	return file_select(s, sym, &sel, o->args.at[0]);
}

static int show(struct snap *s, const struct opts *o)
{
	static const struct sym_opts defaults;
	struct render_opts r = show_render_opts(o);
	const char *notes[2 * MAX_NOTES + 2] = { NULL };
	char left[MAX_NOTES][SELECT_WHY];
	struct suppress *suppress;
	char why[MARK_WHY];
	struct sym *sym;
	size_t at = 0, nr = 0;
	int ret;

	ret = read_suppressions(s, o, &suppress);
	sym = ret ? NULL : sym_new(&defaults);
	if (!sym) {
		suppress_free(suppress);
		return ret ? ret : fail(ERR_PLAIN, ENOMEM, "%s", "symbols");
	}
	ret = select_rows(s, sym, o);
	if (ret) {
		sym_free(sym);
		suppress_free(suppress);
		return ret;
	}
	for (; nr < MAX_NOTES && report_left_out(s, nr, left[nr]); nr++)
		notes[nr] = left[nr];
	/* what was said of the whole recording is not true of a part of it */
	for (size_t i = 0; !s->selected && i < MAX_NOTES &&
	     (notes[nr + i] = file_next_note(s, "foot", &at)); i++)
		;
	if (o->by < 0)
		r.rows.by = show_by(s);
	r.notes = notes;
	r.rows.suppress = suppress;
	if (leaks_kernel(s)) {
		show_kernel_opts(&r, o);
	} else if (leaks_kept(s)) {
		if (!s->selected)
			set_summary(s, o, &r);
		r.rows.top = o->top_given || !r.rows.top ? r.rows.top : LEAKS_TOP;
	}
	why[0] = '\0';
	if (leaks_kept(s) && !mark_window(s, o, &r.rows, why)) {
		sym_free(sym);
		suppress_free(suppress);
		return fail_text("%s", why);
	}
	if (why[0]) {
		for (at = 0; notes[at]; at++)
			;
		notes[at] = why;
	}
	r.title = file_note(s, "title");
	if (!r.title)
		r.title = "recorded events";
	if (file_note(s, "command"))
		r.command = file_note(s, "command");
	r.program = file_note(s, "program");
	ret = write_to(s, sym, &r, o->out, o->csv);
	if (!ret && o->flame) {
		r.format = FORMAT_FLAME;
		ret = write_to(s, sym, &r, o->flame, NULL);
		if (!ret)
			note("flame graph written to %s", o->flame);
	}
	sym_free(sym);
	suppress_free(suppress);
	return ret;
}

int cmd_report(const struct cmd *cmd, struct opts *o)
{
	struct snap *s = NULL;
	struct stat st;
	int ret;

	ret = symbolize_check(cmd->name, o);
	if (ret)
		return ret;
	if (o->outliers)
		return fleet_outliers(cmd, o);
	if (o->max_mem)
		return usage_error(cmd->name, "--max-mem is for --outliers");
	if (opt_nr_args(o) > OPT_MAX_LIST)
		return usage_error(cmd->name, "one FILE, and at most %d events; memtap merge makes "
				   "one of many files", OPT_MAX_LIST - 1);
	if (o->history)
		return past_report(cmd, o);
	if (!o->args.nr)
		return usage_error(cmd->name, "which FILE?");
	/* as `memtap record` takes them */
	for (size_t i = 1; i < o->args.nr && o->events.nr < OPT_MAX_LIST; i++)
		o->events.at[o->events.nr++] = o->args.at[i];
	if (o->by == BY_EVENT) {
		o->by = BY_NONE;
		o->no_stacks = true;
	}
	ret = mark_check(o, cmd->name);
	if (!ret)
		ret = show_check(o);
	if (ret)
		return ret;
	if (!stat(o->args.at[0], &st) && S_ISDIR(st.st_mode))
		return usage_error(cmd->name, "%s is a directory: --outliers compares its "
				   "recordings, memtap merge makes one of them", o->args.at[0]);
	ret = file_read(o->args.at[0], &s);
	if (!s)
		return ret;
	if (file_note(s, "kind") && !strcmp(file_note(s, "kind"), "history"))
		ret = fail_text("%s is part of a history: memtap report --history --dir DIR shows "
				"it, memtap triage --at a moment of it", o->args.at[0]);
	else
		ret = check(cmd, s, o);
	if (!ret && symbolize_writes(o)) {
		ret = symbolize_write(s, o);
		snap_free(s);
		return ret;
	}
	if (!ret && o->symbolize)
		ret = symbolize_replace(&s, o);
	if (!ret)
		ret = show(s, o);
	snap_free(s);
	return ret;
}
