// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "session/dev.h"
#include "base/err.h"
#include "selftest/watch.h"

struct watch *st_watch_new(struct st_run *r, const struct question *q, char **argv, pid_t pid)
{
	struct watch *w = calloc(1, sizeof(*w));
	struct opts *o = malloc(sizeof(*o));

	if (!w || !o) {
		free(w);
		free(o);
		return NULL;
	}
	opt_init(o);
	o->max_mem = r->o->max_mem;
	o->argv = argv;
	o->pids.nr = pid != 0;
	o->pids.at[0] = (__u32)pid;
	w->q = q;
	w->o = o;
	w->cmd = "selftest";
	w->session.fd = -1;
	pthread_mutex_init(&w->reading, NULL);
	pthread_mutex_init(&w->printing, NULL);
	return w;
}

int st_watch_stop(struct watch *w)
{
	int err;

	serve_stop(w->serve);
	err = dev_stop(w->session.fd);
	return err ? fail(ERR_READ, err, "%s", "stopping") : watch_snapshot(w);
}

void st_watch_close(struct watch *w)
{
	serve_end(w->serve);
	w->serve = NULL;
	session_close(&w->session);
}

void st_watch_free(struct watch *w)
{
	if (!w)
		return;
	st_watch_close(w);
	if (w->target.pid)
		target_close(&w->target);
	if (w->leaks)
		leaks_free(w->leaks);
	free(w->leaks);
	tables_free(&w->tables);
	plan_free(&w->plan);
	snap_free(w->before);
	if (w->now != w->before)
		snap_free(w->now);
	free(w->items);
	free((struct opts *)w->o);
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
