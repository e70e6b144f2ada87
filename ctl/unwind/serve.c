// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Build tables for files that are mapped during a session, in a thread of its own, so that a table
 * is there within a fraction of a second, also while a report is written.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "session/dev.h"
#include "base/openreg.h"
#include "base/thread.h"
#include "unwind/tables.h"

#define LOOK_MS		200	/* in case nobody wakes us */
#define QUIET_MS	50	/* after POLLPRI that was not for us */
#define PATIENCE_NS	300000000L
#define BATCH		8	/* files, before we look what is cut most now */
#define MAX_WANTED	65536
#define PATH_LEN	4096

struct want {
	__u32 file;
	pid_t pid;
	__u64 start, end, cut;
	char *path;
};

/* Files, by their ids. */
struct served {
	__u32 *at;
	struct ids ids;
	size_t room;
};

struct serve {
	struct tables *tables;
	bool rows;
	struct serve_hooks hooks;
	pthread_t thread;
	int wake;			/* eventfd: it shall end */
	bool stop;			/* shared_get() */
	bool ended;			/* and was waited for */
	struct served tried;		/* files */
	struct served own;		/* that a child of ours maps until its execve() */
	struct want *wants;
	size_t nr, room;
};

/* ---- what is wanted ---- */

static bool same_file(const void *things, __u32 id, const void *key)
{
	return ((const __u32 *)things)[id] == *(const __u32 *)key;
}

static bool is_in(const struct served *f, __u32 file)
{
	return ids_find(&f->ids, ids_mix(1, file), same_file, f->at, &file) != IDS_NONE;
}

/* False: it cannot be remembered. */
static bool put_in(struct served *f, __u32 file)
{
	__u32 *more;

	more = ids_grow(f->at, f->ids.nr, &f->room, sizeof(*more));
	if (!more)
		return false;
	f->at = more;
	f->at[f->ids.nr] = file;
	return ids_add(&f->ids, ids_mix(1, file)) != IDS_NONE;
}

static bool add_want(struct serve *s, const struct memtap_wanted *w, const char *path)
{
	struct want *more;

	more = ids_grow(s->wants, s->nr, &s->room, sizeof(*more));
	if (!more)
		return false;
	s->wants = more;
	s->wants[s->nr] = (struct want){ w->file, w->pid, w->start, w->end, w->cut,
					 strdup(path) };
	if (!s->wants[s->nr].path)
		return false;
	s->nr++;
	return true;
}

static int cmp_wants(const void *a, const void *b)
{
	const struct want *x = a, *y = b;

	if (x->cut != y->cut)
		return x->cut < y->cut ? 1 : -1;
	return (x->file > y->file) - (x->file < y->file);
}

static void forget_wants(struct serve *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->wants[i].path);
	s->nr = 0;
}

/* All that have not been tried, the one that cut most stacks first. */
static void list_wants(struct serve *s)
{
	char path[PATH_LEN];
	struct memtap_wanted w = { 0 };
	__u32 last = 0;

	forget_wants(s);
	for (size_t i = 0; i < MAX_WANTED && !shared_get(&s->stop); i++) {
		w = (struct memtap_wanted){
			.file = last,
			.path_ptr = (__u64)(unsigned long)path,
			.path_len = sizeof(path),
		};
		if (dev_wanted(s->tables->dev, &w) || w.file == last)
			break;
		last = w.file;
		/* once is enough, however it went */
		if (is_in(&s->tried, w.file) || (!w.cut && is_in(&s->own, w.file)))
			continue;
		if (!add_want(s, &w, path))
			break;
	}
	if (s->nr)
		qsort(s->wants, s->nr, sizeof(*s->wants), cmp_wants);
}

/* ---- serving it ---- */

#define WAYS_OF_PROCESS	2
#define NR_WAYS		3

/* A path under which the file may be opened; "": this way there is none. */
static void way_to(const struct want *w, int way, char *path, size_t len)
{
	*path = '\0';
	if (way == 0 && w->pid && w->path[0] == '/')
		snprintf(path, len, "/proc/%d/root%s", w->pid, w->path);
	if (way == 1 && w->pid)
		snprintf(path, len, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, w->pid,
			 (uint64_t)w->start, (uint64_t)w->end);
	/* the process is gone, or in another PID namespace */
	if (way == 2 && w->path[0] == '/')
		snprintf(path, len, "%s", w->path);
}

static int open_way(const struct want *w, int way)
{
	char path[PATH_LEN + 32];

	way_to(w, way, path, sizeof(path));
	return path[0] ? open_regular(path) : -ENOENT;
}

/*
 * In the root of the process: under the same path there may be another file here.  What
 * has cut stacks is wanted, whoever maps it.
 */
static bool is_own(struct serve *s, const struct want *w)
{
	bool own = false;
	int fd = -1;

	for (int way = 0; way < WAYS_OF_PROCESS && fd < 0 && !w->cut; way++)
		fd = open_way(w, way);
	if (fd < 0)
		return false;
	own = tables_is_own(s->tables, fd);
	close(fd);
	return own && put_in(&s->own, w->file);
}

/*
 * The module says which file it was: where the process has another root by now, another
 * one has that path.
 */
static void serve_file(struct serve *s, const struct want *w)
{
	bool opened = false, done = false;
	__u32 id = 0;
	int fd, err;

	for (int way = 0; way < NR_WAYS && !done; way++) {
		fd = open_way(w, way);
		if (fd < 0)
			continue;
		opened = true;
		err = tables_load(s->tables, fd, w->path, &id);
		done = id == w->file || (err && err != -EEXIST);
		if (done && s->hooks.on_file)
			s->hooks.on_file(s->hooks.ctx, w->path, fd);
		close(fd);
	}
	if (!opened)
		tables_not_opened(s->tables, w->path);
}

static bool look(struct serve *s)
{
	return s->hooks.look && s->hooks.look(s->hooks.ctx);
}

/* Returns whether there was anything to do. */
static bool serve_some(struct serve *s)
{
	bool any = look(s);
	size_t i;

	if (!s->rows)
		return any;
	list_wants(s);
	for (i = 0; i < s->nr && i < BATCH && !shared_get(&s->stop); i++) {
		if (!is_own(s, &s->wants[i]) && put_in(&s->tried, s->wants[i].file))
			serve_file(s, &s->wants[i]);
		look(s);	/* somebody may wait meanwhile */
	}
	return i || any;
}

/* POLLPRI also tells of lost events, until the session is read: no reason to spin. */
static void wait_for_work(const struct serve *s, bool in_vain)
{
	struct pollfd fds[] = {
		{ .fd = s->wake, .events = POLLIN },
		{ .fd = in_vain ? -1 : s->tables->dev, .events = POLLPRI },
	};

	poll(fds, 2, in_vain ? QUIET_MS : LOOK_MS);
}

static void *serve_all(void *arg)
{
	struct serve *s = arg;
	bool in_vain = false;

	while (!shared_get(&s->stop)) {
		if (serve_some(s)) {
			in_vain = false;
			continue;
		}
		wait_for_work(s, in_vain);
		in_vain = !in_vain;
	}
	return NULL;
}

/* ---- its life ---- */

struct serve *serve_start(struct tables *t, bool rows, const struct serve_hooks *hooks)
{
	struct serve *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->tables = t;
	s->rows = rows;
	if (hooks)
		s->hooks = *hooks;
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake >= 0 && !thread_start(&s->thread, serve_all, s))
		return s;
	if (s->wake >= 0)
		close(s->wake);
	free(s);
	return NULL;
}

void serve_stop(struct serve *s)
{
	struct timespec until;

	if (!s)
		return;
	shared_set(&s->stop, true);
	eventfd_write(s->wake, 1);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += PATIENCE_NS;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	s->ended = !pthread_timedjoin_np(s->thread, NULL, &until);
}

void serve_end(struct serve *s)
{
	if (!s)
		return;
	if (!s->ended) {
		serve_stop(s);
		if (!s->ended)
			pthread_join(s->thread, NULL);
	}
	close(s->wake);
	forget_wants(s);
	free(s->wants);
	free(s->tried.at);
	ids_free(&s->tried.ids);
	free(s->own.at);
	ids_free(&s->own.ids);
	free(s);
}
