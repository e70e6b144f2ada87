// SPDX-License-Identifier: GPL-2.0-or-later
/* Read names of slab caches, and which are reclaimable: /sys/kernel/slab. */
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ids.h"
#include "machine/caches.h"
#include "machine/int.h"

#define CACHES_MOST	20000		/* names, whatever the directory has */
#define SHOWN		3		/* aliases */

struct entry {
	char *name, *dir;		/* dir: the same for all names of a cache */
	enum { NOT_ASKED, NO, YES } reclaimable;
};

struct machine_caches {
	struct machine_at at;
	char *root;
	struct entry *entries;		/* by name */
	size_t nr, room;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* An alias is a link to the directory ":..." of its cache; who is alone has one by its name. */
static bool add(struct machine_caches *c, int fd, const char *name)
{
	char dir[NAME_MAX + 1];
	const ssize_t len = readlinkat(fd, name, dir, sizeof(dir) - 1);
	const char *target = name, *slash;
	struct entry *e = ids_grow(c->entries, c->nr, &c->room, sizeof(*e));

	if (len > 0) {
		dir[len] = '\0';
		slash = strrchr(dir, '/');
		target = slash ? slash + 1 : dir;
	}
	if (!e)
		return false;
	c->entries = e;
	e += c->nr;
	*e = (struct entry){ .name = strdup(name), .dir = strdup(target) };
	if (!e->name || !e->dir) {
		free(e->name);
		free(e->dir);
		return false;
	}
	c->nr++;
	return true;
}

struct machine_caches *machine_caches_read(const struct machine_at *at)
{
	struct machine_caches *c = calloc(1, sizeof(*c));
	char path[PATH_MAX];
	struct dirent *d;
	bool ok = true;
	DIR *dir;

	if (!c)
		return NULL;
	c->at = *at;
	c->at.root = c->root = strdup(at->root);
	if (!c->root) {
		machine_caches_free(c);
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/sys/kernel/slab", at->root);
	dir = opendir(path);
	while (dir && ok && c->nr < CACHES_MOST && (d = readdir(dir)))
		if (d->d_name[0] != '.' && d->d_name[0] != ':')
			ok = add(c, dirfd(dir), d->d_name);
	if (dir)
		closedir(dir);
	if (!ok) {
		machine_caches_free(c);
		return NULL;
	}
	if (c->nr)
		qsort(c->entries, c->nr, sizeof(*c->entries), by_name);
	return c;
}

void machine_caches_free(struct machine_caches *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nr; i++) {
		free(c->entries[i].name);
		free(c->entries[i].dir);
	}
	free(c->entries);
	free(c->root);
	free(c);
}

/* Before v5.9 each memory cgroup had caches of its own: "dentry(7:name)". */
static struct entry *find(const struct machine_caches *c, const char *name)
{
	char root[256];
	struct entry key = { .name = root };

	snprintf(root, sizeof(root), "%s", name);
	root[strcspn(root, "(")] = '\0';
	return c && c->nr ? bsearch(&key, c->entries, c->nr, sizeof(key), by_name) : NULL;
}

const char *machine_caches_alias(const struct machine_caches *c, const char *name, size_t i)
{
	const struct entry *e = find(c, name);

	for (size_t k = 0; e && k < c->nr; k++)
		if (&c->entries[k] != e && !strcmp(c->entries[k].dir, e->dir) && !i--)
			return c->entries[k].name;
	return NULL;
}

const char *machine_caches_also(const struct machine_caches *c, const char *name,
				char buf[CACHE_ALSO])
{
	const char *alias;
	size_t nr = 0, at = 0;

	buf[0] = '\0';
	while ((alias = machine_caches_alias(c, name, nr))) {
		if (nr < SHOWN)
			at += (size_t)snprintf(buf + at, CACHE_ALSO - at, "%s%.64s",
					       nr ? ", " : "", alias);
		nr++;
	}
	if (nr > SHOWN)
		snprintf(buf + at, CACHE_ALSO - at, " and %zu more", nr - SHOWN);
	return buf;
}

/* As kernels create them; of file systems in memory the inodes are the files. */
static bool known_reclaimable(const char *name)
{
	static const char *const are[] = {
		"dentry", "inode_cache", "*_inode_cache", "radix_tree_node", "xa_node",
		"buffer_head",
	}, *const are_not[] = {
		"shmem_inode_cache", "hugetlbfs_inode_cache", "mqueue_inode_cache",
	};
	char root[256];

	snprintf(root, sizeof(root), "%s", name);
	root[strcspn(root, "(")] = '\0';
	for (size_t i = 0; i < sizeof(are_not) / sizeof(are_not[0]); i++)
		if (!strcmp(root, are_not[i]))
			return false;
	for (size_t i = 0; i < sizeof(are) / sizeof(are[0]); i++)
		if (!fnmatch(are[i], root, 0))
			return true;
	return false;
}

bool machine_caches_reclaimable(struct machine_caches *c, const char *name)
{
	struct entry *e = find(c, name);
	char path[PATH_MAX], *text = NULL;
	int err;

	if (!e)
		return known_reclaimable(name);
	if (e->reclaimable == NOT_ASKED) {
		snprintf(path, sizeof(path), "/sys/kernel/slab/%s/reclaim_account", e->name);
		text = machine_file(&c->at, path, FILE_SMALL, &err);
		e->reclaimable = (text ? text[0] == '1' : known_reclaimable(name)) ? YES : NO;
		free(text);
	}
	return e->reclaimable == YES;
}
