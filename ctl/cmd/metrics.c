// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `memtap metrics`: print the machine's memory use as metrics, write them to a collector's
 * file, or answer a collector.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/out.h"
#include "cmd/cmd.h"
#include "cmd/metrics_listen.h"
#include "cmd/metrics_sample.h"

/* An exit status. */
static int write_once(struct metrics_sample *s, const char *path)
{
	struct out out;
	int err = metrics_sample_take(s);

	if (err == -ENOMEM)
		return fail_text("no memory");
	if (err)
		return fail(ERR_PLAIN, err, "%s", "/proc/meminfo");
	err = out_open(&out, path);
	if (!err) {
		err = metrics_sample_write(s, out.f, !path) ? out_commit(&out) : -ENOMEM;
		if (err)
			out_abort(&out);
	}
	if (err == -ENOMEM)
		return fail_text("no memory");
	return err ? fail(ERR_WRITE, err, "%s", path ? path : "standard output") : 0;
}

static int write_all(const struct opts *o, const char *path)
{
	struct metrics_sample s;
	struct timespec start;
	int ret;

	metrics_sample_init(&s, o);
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (__u32 i = 1; ; i++) {
		ret = write_once(&s, path);
		if (ret || o->interval <= 0 || i == o->count)
			break;
		cmd_sleep_until(&start, o->interval * i);
	}
	metrics_sample_free(&s);
	return ret;
}

int cmd_metrics(const struct cmd *cmd, struct opts *o)
{
	char path[4096];
	int ret;

	if (o->args.nr)
		return usage_error(cmd->name, "'%s' is not an interval: [interval [count]] are "
				   "seconds and a number of times", o->args.at[0]);
	if (o->listen && o->textfile)
		return usage_error(cmd->name, "--listen and --textfile exclude each other");
	if (o->listen && o->interval > 0)
		return usage_error(cmd->name, "--listen takes no interval: a sample is taken when "
				   "it is asked for");
	if (o->listen)
		return metrics_listen(cmd->name, o);
	if (o->interval > 0 && !o->textfile)
		return usage_error(cmd->name, "an interval needs --textfile DIR: standard output "
				   "has one set of metrics");
	if (!o->textfile)
		return write_all(o, NULL);
	ret = metrics_check_dir(cmd->name, "textfile", o->textfile);
	if (ret)
		return ret;
	if (snprintf(path, sizeof(path), "%s/memtap.prom", o->textfile) >= (int)sizeof(path))
		return usage_error(cmd->name, "--textfile: the path is too long");
	return write_all(o, path);
}
