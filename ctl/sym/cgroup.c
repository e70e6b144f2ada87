// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the paths of cgroups by inode. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ftw.h>
#include <stdlib.h>
#include <string.h>

#include "sym/int.h"

struct cgroup {
	__u64 inode;
	const char *path;
};

struct sym_cgroups {
	struct cgroup *all;	/* sorted */
	size_t nr, room;
	/* asked for last, of a snapshot that is local: lines come in thousands */
	const struct cgroup *last;
	const struct snap *snap;
	__u64 snap_ns;
};

/* Where hierarchies are mounted; the first that has an inode wins. */
static const char *const mounts[] = {
	"/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified", "/sys/fs/cgroup",
};

/* nftw() passes nothing through. */
static struct {
	struct sym *s;
	size_t prefix;
} walk;

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	struct sym_cgroups *c = walk.s->cgroups;

	(void)ftw;
	if (type != FTW_D)
		return 0;
	if (c->nr == c->room) {
		size_t room = c->room ? 2 * c->room : 256;
		struct cgroup *all = reallocarray(c->all, room, sizeof(*all));

		if (!all)
			return 1;
		c->all = all;
		c->room = room;
	}
	path += walk.prefix;
	c->all[c->nr].inode = st->st_ino;
	c->all[c->nr++].path = sym_intern(walk.s, *path ? path : "/");
	return 0;
}

static int cmp_cgroup(const void *a, const void *b)
{
	const struct cgroup *x = a, *y = b;

	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static void load(struct sym *s)
{
	s->cgroups = calloc(1, sizeof(*s->cgroups));
	if (!s->cgroups)
		return;
	walk.s = s;
	for (size_t i = 0; !s->cgroups->nr && i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		walk.prefix = strlen(mounts[i]);
		nftw(mounts[i], visit, 16, FTW_PHYS | FTW_MOUNT);
	}
	if (s->cgroups->nr)
		qsort(s->cgroups->all, s->cgroups->nr, sizeof(*s->cgroups->all), cmp_cgroup);
}

static const char *from_notes(const struct snap *snap, __u64 inode)
{
	char key[48];
	size_t len;

	if (!snap->nr_notes)
		return NULL;
	len = (size_t)snprintf(key, sizeof(key), "cgroup.%llu=", (unsigned long long)inode);
	for (size_t i = 0; i < snap->nr_notes; i++)
		if (!strncmp(snap->notes[i], key, len))
			return snap->notes[i] + len;
	return NULL;
}

const char *sym_cgroup(struct sym *s, const struct snap *snap, __u64 inode)
{
	const char *path = from_notes(snap, inode);
	struct cgroup key = { .inode = inode }, *found;

	if (path)
		return sym_intern(s, path);
	if (snap->has_tool)
		return NULL;
	if (s->cgroups && s->cgroups->last && s->cgroups->last->inode == inode &&
	    s->cgroups->snap == snap && s->cgroups->snap_ns == snap->header.now_ns)
		return s->cgroups->last->path;
	if (!sym_is_local(snap))
		return NULL;
	if (!s->cgroups)
		load(s);
	if (!s->cgroups || !s->cgroups->nr)
		return NULL;
	found = bsearch(&key, s->cgroups->all, s->cgroups->nr, sizeof(key), cmp_cgroup);
	s->cgroups->last = found;
	s->cgroups->snap = snap;
	s->cgroups->snap_ns = snap->header.now_ns;
	return found ? found->path : NULL;
}

void sym_cgroups_free(struct sym *s)
{
	if (s->cgroups)
		free(s->cgroups->all);
	free(s->cgroups);
}
