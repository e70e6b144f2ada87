// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap annotate`: show source lines of a file with the events that they caused. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "cmd/cmd.h"
#include "cmd/file.h"
#include "cmd/show.h"
#include "render/annotate.h"

static int write_to(const struct opts *o, const struct snap *s, struct sym *sym)
{
	const struct annotate_opts a = {
		.source = o->args.nr > 1 ? o->args.at[1] : NULL,
		.paths = &o->source_paths,
		.context = o->context,
	};
	struct render_opts r = show_render_opts(o);
	struct out out = { 0 };
	int err;

	r.title = file_note(s, "title");
	if (o->by < 0)
		r.rows.by = BY_NONE;
	err = out_open(&out, o->out);
	if (err)
		return fail(ERR_WRITE, err, "%s", o->out);
	err = render_annotate(s, sym, &r, &a, out.f);
	if (err)
		out_abort(&out);
	else
		err = out_commit(&out);
	if (err == -ENODATA)
		return fail_text("%s: no source lines: the recorded programs have no debug "
				 "information", o->args.at[0]);
	if (err == -ENOENT && a.source)
		return fail_text("%s: no events in source file %s; without SOURCE all files are "
				 "shown", o->args.at[0], a.source);
	return err ? fail(ERR_WRITE, err, "%s", o->out ? o->out : "standard output") : 0;
}

int cmd_annotate(const struct cmd *cmd, struct opts *o)
{
	static const struct sym_opts defaults;
	struct snap *s = NULL;
	struct sym *sym;
	int ret;

	if (!o->args.nr || o->args.nr > 2)
		return usage_error(cmd->name, "annotate takes a FILE of `memtap record` and at "
				   "most one SOURCE");
	for (size_t i = 0; i < o->source_paths.nr; i++)
		if (!strchr(o->source_paths.at[i], '='))
			return usage_error(cmd->name, "--source-path %s: it has the form FROM=TO",
					   o->source_paths.at[i]);
	ret = file_read(o->args.at[0], &s);
	if (ret)
		return ret;
	sym = sym_new(&defaults);
	ret = sym ? write_to(o, s, sym) : fail(ERR_PLAIN, ENOMEM, "%s", "symbols");
	sym_free(sym);
	snap_free(s);
	return ret;
}
