// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `memtap metrics`: print the machine's memory use as metrics, or write them to a collector's
 * file.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/out.h"
#include "cmd/cmd.h"
#include "render/metrics.h"

#define TOP_DEFAULT	20		/* holders of each kind */

static const char meminfo[] = "/proc/meminfo";

/* Who else may write to the directory could put a link where the file is to be. */
static int check_dir(const char *name, const char *dir)
{
	struct stat st;

	if (stat(dir, &st))
		return usage_error(name, "--textfile %s: %s", dir, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return usage_error(name, "--textfile %s: not a directory", dir);
	if (st.st_mode & 022 || (st.st_uid && st.st_uid != geteuid()))
		return usage_error(name, "--textfile %s: other users may write there; 'chmod go-w' "
				   "it, or name a directory that is yours alone", dir);
	return 0;
}

/* 0 or an errno; *@what: what it is about. */
static int write_once(const struct opts *o, const char *path, const char **what)
{
	const struct machine_at at = machine_here();
	struct metrics_opts to = {
		.openmetrics = !path,
		.top = !o->top_given ? TOP_DEFAULT : o->top ? o->top : SIZE_MAX,
	};
	struct machine m;
	struct out out;
	int err;

	*what = meminfo;
	err = machine_read(&at, MACHINE_SLAB, &m);
	if (!err) {
		*what = path ? path : "standard output";
		err = out_open(&out, path);
	}
	if (!err) {
		to.out = out.f;
		err = render_metrics(&m, &to) ? out_commit(&out) : -ENOMEM;
		if (err)
			out_abort(&out);
	}
	machine_free(&m);
	return err;
}

int cmd_metrics(const struct cmd *cmd, struct opts *o)
{
	char path[4096];
	const char *to = NULL;
	struct timespec start;
	int err;

	if (o->args.nr)
		return usage_error(cmd->name, "'%s' is not an interval: [interval [count]] are "
				   "seconds and a number of times", o->args.at[0]);
	if (o->interval > 0 && !o->textfile)
		return usage_error(cmd->name, "an interval needs --textfile DIR: standard output "
				   "has one set of metrics");
	if (o->textfile) {
		err = check_dir(cmd->name, o->textfile);
		if (err)
			return err;
		snprintf(path, sizeof(path), "%s/memtap.prom", o->textfile);
		to = path;
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (__u32 i = 1; ; i++) {
		const char *what;

		err = write_once(o, to, &what);
		if (err == -ENOMEM)
			return fail_text("no memory");
		if (err)
			return fail(what == meminfo ? ERR_PLAIN : ERR_WRITE, err, "%s", what);
		if (o->interval <= 0 || i == o->count)
			return 0;
		cmd_sleep_until(&start, o->interval * i);
	}
}
