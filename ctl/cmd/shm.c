// SPDX-License-Identifier: GPL-2.0-or-later
/* `memtap shm`: print calls about shared memory, or list its current users. */
#include "base/err.h"
#include "base/out.h"
#include "cmd/cmd.h"
#include "render/shm.h"

static int show_live(const struct opts *o)
{
	struct out out;
	struct shm s;
	int err = shm_read(&s);

	if (err) {
		shm_free(&s);
		return fail(ERR_PLAIN, err, "%s", "shared memory");
	}
	err = out_open(&out, o->out);
	if (!err) {
		if (o->json)
			render_shm_json(&s, out.f);
		else
			render_shm(&s, out.f);
		err = out_commit(&out);
	}
	shm_free(&s);
	return err ? fail(ERR_WRITE, err, "%s", o->out ? o->out : "standard output") : 0;
}

int cmd_shm(const struct cmd *cmd, struct opts *o)
{
	const char *name;

	if (!o->live) {
		name = o->json ? "json" : NULL;
		return name ? usage_error(cmd->name, "--%s needs --live", name) :
			      cmd_watch(cmd, o);
	}
	name = opt_foreign(o, OPT_SHM | OPT_JSON | OPT_OUT);
	if (name || o->args.nr || o->argv)
		return usage_error(cmd->name, "--live lists all existing shared memory: it takes "
				   "only --json and -o");
	return show_live(o);
}
