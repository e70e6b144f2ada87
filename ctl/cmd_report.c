// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap report`: what a file has, by the same way as what is live. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "err.h"
#include "watch.h"

static int read_file(const char *path, struct snap **s)
{
	char why[256];
	int fd, err;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(ERR_PLAIN, errno, "%s", path);
	err = snap_from_fd(fd, s, why);
	close(fd);
	return err ? fail_text("%s: %s", path, why) : 0;
}

/* Values of the notes "key=value". */
static const char *find_note(const struct snap *s, const char *key)
{
	const size_t len = strlen(key);

	for (size_t i = 0; i < s->nr_notes; i++)
		if (!strncmp(s->notes[i], key, len) && s->notes[i][len] == '=')
			return s->notes[i] + len + 1;
	return NULL;
}

static int write_to(const struct snap *s, struct sym *sym,
		    const struct report_opts *r, const char *path)
{
	struct out out;
	int err;

	err = out_open(&out, path);
	if (err)
		return fail(ERR_WRITE, err, "%s", path);
	err = report_write(s, sym, r, out.f);
	if (err)
		out_abort(&out);
	else
		err = out_commit(&out);
	return err ? fail(ERR_WRITE, err, "%s", path ? path : "standard output") : 0;
}

static int show(const struct snap *s, const struct opts *o)
{
	static const struct sym_opts defaults;
	struct report_opts r = watch_report_opts(o);
	const char *notes[] = { find_note(s, "foot"), NULL };
	struct sym *sym = sym_new(&defaults);
	int ret;

	if (!sym)
		return fail(ERR_PLAIN, ENOMEM, "%s", "symbols");
	r.notes = notes;
	r.title = find_note(s, "title");
	if (!r.title)
		r.title = "recorded events";
	if (find_note(s, "command"))
		r.command = find_note(s, "command");
	ret = write_to(s, sym, &r, o->out);
	if (!ret && o->flame) {
		r.format = FORMAT_FLAME;
		ret = write_to(s, sym, &r, o->flame);
		if (!ret)
			note("flame graph written to %s", o->flame);
	}
	sym_free(sym);
	return ret;
}

int cmd_report(const struct cmd *cmd, struct opts *o)
{
	struct snap *s;
	int ret;

	if (o->args.nr != 1)
		return usage_error(cmd->name, o->args.nr ? "one FILE only" :
				   "which FILE?");
	ret = read_file(o->args.at[0], &s);
	if (ret)
		return ret;
	ret = show(s, o);
	snap_free(s);
	return ret;
}
