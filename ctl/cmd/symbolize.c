// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap report --symbolize`: name what a recording could not name where it was made. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "cmd/file.h"
#include "cmd/symbolize.h"
#include "render/save.h"
#include "sym/sym.h"

static const char ending[] = ".memtap";

bool symbolize_writes(const struct opts *o)
{
	const size_t len = o->out ? strlen(o->out) : 0;

	return o->symbolize && len >= sizeof(ending) - 1 &&
	       !strcmp(o->out + len - (sizeof(ending) - 1), ending);
}

static int check_dir(const char *cmd, const char *dir)
{
	struct stat st;

	if (stat(dir, &st))
		return usage_error(cmd, "--debug-dir %s: %s", dir, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return usage_error(cmd, "--debug-dir %s: not a directory", dir);
	return 0;
}

int symbolize_check(const char *cmd, const struct opts *o)
{
	const char *foreign;

	if (o->symbolize && o->history)
		return usage_error(cmd, "--symbolize needs a recording, and --history has none");
	if (o->debug_dir && !o->symbolize)
		return usage_error(cmd, "--debug-dir needs --symbolize");
	if (!symbolize_writes(o))
		return o->debug_dir ? check_dir(cmd, o->debug_dir) : 0;
	foreign = opt_foreign(o, OPT_SYMBOLIZE | OPT_OUT);
	if (foreign)
		return usage_error(cmd, "--%s selects or shows: --symbolize -o FILE%s writes the "
				   "whole recording", foreign, ending);
	if (o->args.nr > 1)
		return usage_error(cmd, "--symbolize -o FILE%s writes the whole recording, not "
				   "'%s' alone", ending, o->args.at[1]);
	return o->debug_dir ? check_dir(cmd, o->debug_dir) : 0;
}

static void part(char *text, size_t room, size_t nr, const char *what)
{
	const size_t used = strlen(text);

	if (nr)
		snprintf(text + used, room - used, "%s%zu %s", used ? ", " : "; ", nr, what);
}

static void tell(const struct sym_again *a)
{
	const size_t all = a->named + a->no_id + a->no_file + a->no_symbol;
	char rest[320] = "";

	if (!all) {
		note("all addresses in files have names");
		return;
	}
	part(rest, sizeof(rest), a->no_file, "in files that are not here, or are another build");
	part(rest, sizeof(rest), a->no_id, "in files without a build ID in the recording");
	part(rest, sizeof(rest), a->no_symbol, "where their file has no symbol");
	note("named %zu of %zu address%s without a name%s", a->named, all, all == 1 ? "" : "es",
	     rest);
}

/* Without ioctls: the kernel of this machine is not that of the recording. */
static struct sym *open_sym(const struct opts *o)
{
	const struct sym_opts so = { .again = true, .debug_dir = o->debug_dir };

	return sym_new(&so);
}

int symbolize_write(const struct snap *s, const struct opts *o)
{
	static const struct save_more more = { .again = true };
	struct sym *sym = open_sym(o);
	int err = sym ? save_snap(s, sym, &more, o->out) : -ENOMEM;

	if (!err) {
		tell(sym_again(sym));
		for (size_t i = 0; sym_notes(sym)[i]; i++)
			note("%s", sym_notes(sym)[i]);
		note("written to %s; `memtap report %s` shows it", o->out, o->out);
	}
	sym_free(sym);
	return err ? fail(ERR_WRITE, err, "%s", o->out) : 0;
}

int symbolize_replace(struct snap **s, const struct opts *o)
{
	static const struct save_more more = { .again = true };
	static const char what[] = "a temporary copy of the recording";
	struct sym *sym = open_sym(o);
	FILE *f = tmpfile();
	struct snap *named = NULL;
	int err = !sym ? -ENOMEM : !f ? -errno : save_stream(*s, sym, &more, f);
	int ret;

	if (!err && (fflush(f) || ferror(f)))
		err = -EIO;
	if (!err && lseek(fileno(f), 0, SEEK_SET))
		err = -errno;
	ret = err ? fail(ERR_PLAIN, -err, "%s", what) : file_read_fd(fileno(f), what, &named);
	if (f)
		fclose(f);
	if (!ret) {
		tell(sym_again(sym));
		snap_free(*s);
		*s = named;
	}
	sym_free(sym);
	return ret;
}
