// SPDX-License-Identifier: GPL-2.0-or-later
/* Run a session of the self-test. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "selftest/watch.h"

struct st_watch *st_watch_new(struct st_run *r, const struct watch_ask *ask, char **argv,
			      pid_t pid)
{
	struct st_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->ask = ask;
	opt_init(&w->o);
	w->o.max_mem = r->o->max_mem;
	w->o.argv = argv;
	w->o.pids.nr = pid != 0;
	w->o.pids.at[0] = (__u32)pid;
	watch_init(&w->watch);
	targets_init(&w->targets, &w->o);
	return w;
}

int st_watch_start(struct st_watch *w)
{
	return watch_start(&w->watch, w->ask, &w->o, &w->targets, &w->plan, "selftest");
}

int st_watch_snapshot(struct st_watch *w)
{
	snap_free(w->now);
	w->now = NULL;
	return watch_snapshot(&w->watch, &w->now);
}

int st_watch_stop(struct st_watch *w)
{
	const int ret = watch_stop(&w->watch);

	return ret ? ret : st_watch_snapshot(w);
}

/* (what files it brought is not remembered: nobody else runs these) */
void st_watch_close(struct st_watch *w)
{
	serve_end(w->watch.rows.serve);
	w->watch.rows.serve = NULL;
	session_close(&w->watch.session);
}

void st_watch_free(struct st_watch *w)
{
	if (!w)
		return;
	st_watch_close(w);
	if (w->targets.target.pid)
		target_close(&w->targets.target);
	if (w->watch.leaks)
		leaks_free(w->watch.leaks);
	free(w->watch.leaks);
	tables_free(&w->watch.rows.tables);
	plan_free(&w->plan);
	snap_free(w->now);
	watch_name_end(&w->watch);
	targets_free(&w->targets);
	free(w);
}

void st_own_path(char *path, size_t len)
{
	const ssize_t n = readlink("/proc/self/exe", path, len - 1);

	if (n > 0)
		path[n] = '\0';
	else
		snprintf(path, len, "/proc/self/exe");
}

void st_put_account(struct st_run *r, const struct snap *s, const char *name)
{
	struct st_check c = { .name = name };

	st_account(s, &c);
	st_put(&r->out, &c);
}
