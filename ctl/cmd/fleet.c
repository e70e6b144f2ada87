// SPDX-License-Identifier: GPL-2.0-or-later
/* Read many recordings, one after the other; and what is shown of them. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/ids.h"
#include "base/out.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/file.h"
#include "cmd/fleet.h"
#include "render/fleet.h"
#include "report/report.h"

#define SHOWN_SKIPPED	10		/* that are named one by one */
#define NAMES_KEPT	200000		/* the symbolizer forgets names after so many */

/* ---- which files ---- */

static int add_path(struct fleet_files *files, char *path, unsigned int side)
{
	struct fleet_file *at = path ? ids_grow(files->at, files->nr, &files->room, sizeof(*at)) :
				NULL;

	if (!at) {
		free(path);
		return fail(ERR_PLAIN, ENOMEM, "%s", "the list of recordings");
	}
	files->at = at;
	at[files->nr++] = (struct fleet_file){ path, side };
	return 0;
}

static bool is_recording(const char *name)
{
	const size_t len = strlen(name), end = strlen(".memtap");

	return name[0] != '.' && len > end && !strcmp(name + len - end, ".memtap");
}

static int add_dir(struct fleet_files *files, const char *dir, unsigned int side)
{
	const size_t before = files->nr;
	struct dirent *e;
	DIR *d = opendir(dir);
	int ret = 0;

	if (!d)
		return fail(ERR_PLAIN, errno, "%s", dir);
	while (!ret && (e = readdir(d))) {
		char *path;

		if (!is_recording(e->d_name))
			continue;
		ret = add_path(files, asprintf(&path, "%s/%s", dir, e->d_name) < 0 ? NULL : path,
			       side);
	}
	closedir(d);
	if (!ret && files->nr == before)
		ret = fail_text("%s has no recordings (*.memtap)", dir);
	return ret;
}

int fleet_files_add(struct fleet_files *files, const char *arg, unsigned int side)
{
	struct stat st;

	if (!stat(arg, &st) && S_ISDIR(st.st_mode))
		return add_dir(files, arg, side);
	return add_path(files, strdup(arg), side);
}

void fleet_files_free(struct fleet_files *files)
{
	for (size_t i = 0; i < files->nr; i++)
		free(files->at[i].path);
	free(files->at);
}

/* So that the result does not depend on the order of the arguments, also if rows are folded. */
static int cmp_file(const void *a, const void *b)
{
	const struct fleet_file *x = a, *y = b;

	return x->side != y->side ? (x->side < y->side ? -1 : 1) : strcmp(x->path, y->path);
}

/* ---- reading ---- */

struct reader {
	struct fleet_files *files;
	const struct cmd *cmd;
	const struct opts *o;
	struct fleet *f;
	struct sym *sym;
	size_t names;			/* that @sym may know by now */
};

static void skip(struct reader *r, const char *path, const char *why)
{
	if (!r->files->skipped++)
		r->files->first_skipped = path;
	if (r->files->skipped <= SHOWN_SKIPPED)
		fail_text("%s: %s; it is left out", path, why);
}

/* Memory for names is bounded, too. */
static int renew_sym(struct reader *r, const struct snap *s)
{
	static const struct sym_opts defaults;
	const size_t more = s ? s->nr_usyms + s->nr_ksyms + 8 * s->nr_stacks : 0;

	r->names += more;
	if (r->sym && s && r->names < NAMES_KEPT)
		return 0;
	if (r->sym) {
		const char *const *notes = sym_notes(r->sym);

		for (size_t i = 0; notes[i]; i++)
			fleet_add_note(r->f, notes[i]);
		sym_free(r->sym);
		r->sym = NULL;
	}
	r->names = more;
	if (!s)
		return 0;
	r->sym = sym_new(&defaults);
	return r->sym ? 0 : fail(ERR_PLAIN, ENOMEM, "%s", "symbols");
}

/* What meets no condition is an answer: that host has none of it. */
static int choose(struct reader *r, struct snap *s, const char *path)
{
	const struct select sel = { .o = r->o };
	char why[SELECT_WHY];
	const int err = report_select(s, r->sym, &sel, why);

	if (!err || (err == -EINVAL && s->selected && (s->nr_events || !r->o->events.nr)))
		return 0;
	return err == -EINVAL ? usage_error(r->cmd->name, "%s: %s", path, why) :
	       fail(ERR_PLAIN, -err, "%s", "filtering a recording");
}

static int add(struct reader *r, struct snap *s, const struct fleet_file *file)
{
	char why[FLEET_WHY] = "";
	int ret = renew_sym(r, s);

	if (!ret)
		ret = choose(r, s, file->path);
	if (ret)
		return ret;
	switch (fleet_add(r->f, s, r->sym, file->path, file->side, why)) {
	case 0:
		return 0;
	case -EEXIST:
		note("%s was read already, under another name or this one: it counts once",
		     file->path);
		return 0;
	case -EINVAL:
		return usage_error(r->cmd->name, "%s", why);
	case -ENOSPC:
		return fail_text("%s", why);
	}
	return fail(ERR_PLAIN, ENOMEM, "%s", file->path);
}

static int read_one(struct reader *r, const struct fleet_file *file)
{
	struct snap *s = NULL;
	const char *kind;
	char why[256];
	int ret = 0;

	if (file_try(file->path, &s, why)) {
		skip(r, file->path, why);
		return 0;
	}
	kind = file_note(s, "kind");
	if (kind && !strcmp(kind, "history"))
		skip(r, file->path, "it is part of a history, no recording");
	else
		ret = add(r, s, file);
	snap_free(s);
	return ret;
}

static void say_skipped(const struct fleet_files *files)
{
	char n[TEXT_LEN], m[TEXT_LEN];

	if (files->skipped > SHOWN_SKIPPED)
		fail_text("%s of %s recordings are left out", text_count(n, files->skipped),
			  text_count(m, files->nr));
}

int fleet_read(struct fleet_files *files, const struct cmd *cmd, const struct opts *o, bool names,
	       struct fleet **f)
{
	const struct fleet_opts fo = {
		.names = names, .max_mem = o->max_mem ? o->max_mem : FLEET_MAX_MEM,
		.is_owned = report_is_owned,
	};
	struct reader r = { .files = files, .cmd = cmd, .o = o };
	int ret = 0;

	*f = NULL;
	if (fo.max_mem < FLEET_LEAST_MEM)
		return usage_error(cmd->name, "--max-mem: rows need 1M at least");
	*f = r.f = fleet_new(&fo);
	if (!r.f)
		return fail(ERR_PLAIN, ENOMEM, "%s", cmd->name);
	if (files->nr)
		qsort(files->at, files->nr, sizeof(*files->at), cmp_file);
	for (size_t i = 0; !ret && i < files->nr; i++)
		ret = read_one(&r, &files->at[i]);
	renew_sym(&r, NULL);
	if (ret)
		return ret;
	say_skipped(files);
	if (!fleet_nr_hosts(r.f))
		return fail_text("there is no recording that can be read");
	return 0;
}

/* ---- what is shown ---- */

int fleet_check_opts(const struct cmd *cmd, const struct opts *o, const char *option)
{
	const char *name = opt_foreign(o, OPT_PICK | OPT_FLEET | OPT_OUT | OPT_JSON | OPT_BY_ALL |
				       OPT_TABLES | OPT_FLAMES | OPT_METRICS);

	if (!name && o->history)
		name = "history";
	if (!name && o->flame)
		name = "flame";
	if (!name && o->sort >= 0)
		name = "sort";
	if (!name && o->min_percent > 0)
		name = "min-percent";
	if (!name && o->no_stacks)
		name = "no-stacks";
	if (name)
		return usage_error(cmd->name, "--%s says nothing with %s", name, option);
	if (o->format != FORMAT_TABLE && o->format != FORMAT_JSON)
		return usage_error(cmd->name, "%s is a table, or --json: not --format %s", option,
				   format_words[o->format]);
	if (o->by >= 0 && o->by != BY_PROGRAM && o->by != BY_NONE)
		return usage_error(cmd->name, "%s compares stacks --by program (default) or none",
				   option);
	return 0;
}

typedef int render_fn(const struct fleet_view *v, FILE *out);

static int show(const struct opts *o, const struct fleet_view *v, render_fn *render)
{
	struct out out = { 0 };
	int err = out_open(&out, o->out);

	if (err)
		return fail(ERR_WRITE, err, "%s", o->out);
	if (o->csv)
		err = out_csv(&out, o->csv);
	if (!err)
		err = render(v, out.f);
	if (err)
		out_abort(&out);
	else
		err = out_commit(&out);
	return err ? fail(ERR_WRITE, err, "%s", o->out ? o->out : "standard output") : 0;
}

/* Compare, and print; damaged recordings are a failure, though the rest is shown. */
static int compare(const struct opts *o, const struct fleet_files *files, const struct fleet *f,
		   const char *const names[2])
{
	const bool two = names != NULL;
	struct fleet_result result;
	struct fleet_view v = {
		.f = f, .result = &result, .json = o->format == FORMAT_JSON,
		.top = o->top_given ? o->top : o->format == FORMAT_JSON ? 0 : 20,
		.files = files->nr, .skipped = files->skipped,
		.names = { two ? names[0] : NULL, two ? names[1] : NULL },
	};
	int ret = 0;

	if (fleet_compare(f, two, o->by != BY_NONE, &result))
		ret = fail(ERR_PLAIN, ENOMEM, "%s", "comparing hosts");
	if (!ret)
		ret = show(o, &v, two ? render_fleet_diff : render_fleet_outliers);
	fleet_result_free(&result);
	return ret ? ret : files->skipped ? EXIT_FAILURE : 0;
}

int fleet_outliers(const struct cmd *cmd, struct opts *o)
{
	struct fleet_files files = { 0 };
	struct fleet *f = NULL;
	int ret = fleet_check_opts(cmd, o, "--outliers");

	if (!ret && !opt_nr_args(o))
		ret = usage_error(cmd->name, "which recordings? memtap report DIR --outliers");
	for (size_t i = 0; !ret && i < opt_nr_args(o); i++)
		ret = fleet_files_add(&files, opt_arg(o, i), 0);
	if (!ret)
		ret = fleet_read(&files, cmd, o, true, &f);
	if (!ret)
		ret = compare(o, &files, f, NULL);
	fleet_free(f);
	fleet_files_free(&files);
	return ret;
}

/* ---- two groups ---- */

/* The directory of a file (or, @itself, the file), or a directory, without slashes at the end. */
static void dir_of(const char *arg, bool itself, char dir[4096])
{
	struct stat st;
	char *slash;

	snprintf(dir, 4096, "%s", arg);
	if (!itself && (stat(arg, &st) || !S_ISDIR(st.st_mode))) {
		slash = strrchr(dir, '/');
		if (!slash)
			strcpy(dir, ".");
		else
			slash[slash == dir] = '\0';
	}
	for (size_t len = strlen(dir); len > 1 && dir[len - 1] == '/'; len--)
		dir[len - 1] = '\0';
}

/* By "--", or two arguments, or two directories. */
static int add_sides(const struct cmd *cmd, const struct opts *o, struct fleet_files *files,
		     char names[2][4096])
{
	const size_t nr = opt_nr_args(o);
	char dir[4096];
	int ret = 0;

	for (size_t i = 0; !ret && i < nr; i++) {
		unsigned int side;

		dir_of(opt_arg(o, i), nr == 2, dir);
		side = o->first_args ? i >= o->first_args : nr == 2 ? i :
		       *names[0] && strcmp(names[0], dir);
		if (!*names[side])
			strcpy(names[side], dir);
		if (!o->first_args && strcmp(names[side], dir))
			return usage_error(cmd->name, "these recordings are of more than two "
					   "directories: put -- between both groups");
		ret = fleet_files_add(files, opt_arg(o, i), side);
	}
	if (!ret && o->first_args && !*names[1])
		ret = usage_error(cmd->name, "no recordings stand behind --");
	else if (!ret && !*names[1])
		ret = usage_error(cmd->name, "these recordings are of one directory: put -- "
				  "between both groups: memtap diff --hosts OLD... -- NEW...");
	if (!ret && o->first_args && !strcmp(names[0], names[1])) {
		strcpy(names[0], "before --");
		strcpy(names[1], "after --");
	}
	return ret;
}

static int check_sides(const struct cmd *cmd, const struct fleet *f)
{
	size_t nr[2] = { 0, 0 };

	for (size_t i = 0; i < fleet_nr_hosts(f); i++)
		nr[fleet_host(f, i)->side]++;
	if (nr[0] >= 2 && nr[1] >= 2)
		return 0;
	return usage_error(cmd->name, "--hosts: the first group has %zu host%s, the second %zu: "
			   "how much hosts vary needs two of each; memtap diff BEFORE AFTER "
			   "compares two recordings", nr[0], text_s(nr[0]), nr[1]);
}

int fleet_diff(const struct cmd *cmd, struct opts *o)
{
	char (*names)[4096] = calloc(2, sizeof(*names));
	struct fleet_files files = { 0 };
	const char *groups[2];
	struct fleet *f = NULL;
	int ret = fleet_check_opts(cmd, o, "--hosts");

	if (!names)
		return fail(ERR_PLAIN, ENOMEM, "%s", cmd->name);
	groups[0] = names[0];
	groups[1] = names[1];
	if (!ret && !opt_nr_args(o))
		ret = usage_error(cmd->name, "which recordings? memtap diff --hosts "
				  "OLD/*.memtap NEW/*.memtap");
	if (!ret)
		ret = add_sides(cmd, o, &files, names);
	if (!ret)
		ret = fleet_read(&files, cmd, o, true, &f);
	if (!ret)
		ret = check_sides(cmd, f);
	if (!ret)
		ret = compare(o, &files, f, groups);
	fleet_free(f);
	fleet_files_free(&files);
	free(names);
	return ret;
}
