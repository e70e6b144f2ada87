// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Convert paths to this process's mounts.  The module reports mapped files relative to the root of
 * their process.  Files of events are reported relative to the root of their file system, and are
 * converted to a path below its mount.  Files without a mount (memfd, SysV shared memory) keep
 * their name.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "watch/watch.h"

struct mount {
	unsigned int major, minor;
	char *at;
};

struct mounts {
	struct mount *all;
	size_t nr;
};

/* "\040" for a blank, and the like. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

static void add_mount(struct mounts *m, unsigned int major, unsigned int minor, const char *at)
{
	struct mount *all = reallocarray(m->all, m->nr + 1, sizeof(*all));

	if (!all)
		return;
	m->all = all;
	all[m->nr] = (struct mount){ major, minor, strdup(at) };
	if (!all[m->nr].at)
		return;
	unescape(all[m->nr].at);
	m->nr++;
}

/* Whole file systems; a part of one that is mounted elsewhere does not tell. */
static void read_mounts(struct mounts *m)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	unsigned int major, minor;
	char *line = NULL, root[8], at[4096];
	size_t len = 0;

	while (f && getline(&line, &len, f) > 0)
		if (sscanf(line, "%*u %*u %u:%u %7s %4095s", &major, &minor, root, at) == 4 &&
		    !strcmp(root, "/"))
			add_mount(m, major, minor, at);
	free(line);
	if (f)
		fclose(f);
}

static void free_mounts(struct mounts *m)
{
	for (size_t i = 0; i < m->nr; i++)
		free(m->all[i].at);
	free(m->all);
}

static char *join(const struct mounts *m, const struct snap_file *f)
{
	char *path = NULL;

	for (size_t i = 0; i < m->nr; i++) {
		const struct mount *at = &m->all[i];

		if (at->major != f->dev_major || at->minor != f->dev_minor)
			continue;
		if (asprintf(&path, "%s/%s", strcmp(at->at, "/") ? at->at : "", f->path) < 0)
			return NULL;
		return path;
	}
	return NULL;
}

static const char *known(const struct watch *w, __u32 id)
{
	for (const struct watch_path *p = w->paths; p; p = p->next)
		if (p->id == id)
			return p->path;
	return NULL;
}

static const char *keep(struct watch *w, __u32 id, char *path)
{
	struct watch_path *p = path ? malloc(sizeof(*p)) : NULL;

	if (!p) {
		free(path);
		return NULL;
	}
	*p = (struct watch_path){ w->paths, id, path };
	w->paths = p;
	return path;
}

void watch_files(struct watch *w, struct snap *s)
{
	struct mounts mounts = { NULL, 0 };
	const char *path;

	if (!(s->header.flags & MEMTAP_CFG_FILES))
		return;
	read_mounts(&mounts);
	for (size_t i = 0; i < s->nr_files; i++) {
		struct snap_file *f = &s->files[i];

		if (!*f->path || *f->path == '/')
			continue;
		path = known(w, f->id);
		if (!path)
			path = keep(w, f->id, join(&mounts, f));
		if (path)
			f->path = path;
	}
	free_mounts(&mounts);
}

void watch_paths(struct watch *w, struct snap *s)
{
	const char *path;

	for (size_t i = 0; w->rows.wanted && i < s->nr_files; i++) {
		struct snap_file *f = &s->files[i];

		if (*f->path != '/')
			continue;
		path = known(w, f->id);
		if (!path)
			path = keep(w, f->id, tables_path(&w->rows.tables, f->id));
		if (path)
			f->path = path;
	}
}

void watch_files_end(struct watch *w)
{
	struct watch_path *p;

	while ((p = w->paths)) {
		w->paths = p->next;
		free(p->path);
		free(p);
	}
}
