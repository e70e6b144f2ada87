// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap merge`: many recordings as one file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/out.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/fleet.h"

/* A file that is both would be counted in itself the next time. */
static int check_out(const struct cmd *cmd, const struct fleet_files *files, const char *path)
{
	struct stat to, from;

	if (stat(path, &to) || !S_ISREG(to.st_mode))
		return 0;
	for (size_t i = 0; i < files->nr; i++)
		if (!stat(files->at[i].path, &from) && from.st_ino == to.st_ino &&
		    from.st_dev == to.st_dev)
			return usage_error(cmd->name, "%s is to be read and written: what it has "
					   "would count twice; choose another -o, or name the "
					   "recordings without it", files->at[i].path);
	return 0;
}

static int write_all(const struct fleet_files *files, struct fleet *f, const char *path)
{
	const char *notes[2] = { NULL, NULL };
	char left[512], n[TEXT_LEN], m[TEXT_LEN];
	struct out out = { 0 };
	int err = out_open_own(&out, path);

	if (err)
		return fail(ERR_WRITE, err, "%s", path);
	if (files->skipped) {
		snprintf(left, sizeof(left), "foot=left out, since they could not be read: %s of "
			 "%s files, first %.200s", text_count(n, files->skipped),
			 text_count(m, files->nr), files->first_skipped);
		notes[0] = left;
	}
	errno = 0;
	err = fleet_write(f, notes, out.f);
	if (err)
		out_abort(&out);
	else
		err = out_commit(&out);
	return err ? fail(ERR_WRITE, err, "%s", path) : 0;
}

static void say(const struct fleet *f, const char *path)
{
	char n[TEXT_LEN], m[TEXT_LEN], k[TEXT_LEN];
	__u64 files = 0;

	for (size_t i = 0; i < fleet_nr_hosts(f); i++)
		files += fleet_host(f, i)->files;
	note("merged %s recording%s of %s host%s into %s", text_count(n, files), text_s(files),
	     text_count(m, fleet_nr_hosts(f)), text_s(fleet_nr_hosts(f)), path);
	if (fleet_folded(f))
		note("not kept for want of memory: the stacks of %s rows, which weigh least; "
		     "--max-mem keeps more", text_count(k, fleet_folded(f)));
}

int cmd_merge(const struct cmd *cmd, struct opts *o)
{
	struct fleet_files files = { 0 };
	struct fleet *f = NULL;
	int ret = 0;

	if (!o->out)
		return usage_error(cmd->name, "where to? -o FILE");
	if (!opt_nr_args(o))
		return usage_error(cmd->name, "which recordings? FILE or DIR");
	for (size_t i = 0; !ret && i < opt_nr_args(o); i++)
		ret = fleet_files_add(&files, opt_arg(o, i), 0);
	if (!ret)
		ret = check_out(cmd, &files, o->out);
	if (!ret)
		ret = fleet_read(&files, cmd, o, false, &f);
	if (!ret)
		ret = write_all(&files, f, o->out);
	if (!ret) {
		say(f, o->out);
		ret = files.skipped ? EXIT_FAILURE : 0;
	}
	fleet_free(f);
	fleet_files_free(&files);
	return ret;
}
