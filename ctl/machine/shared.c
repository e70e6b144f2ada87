// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find shared memory that our mounts do not show: deleted tmpfs files that are open or mapped, and
 * tmpfs mounts of other mount namespaces.  Sizes are read from tmpfs only, because a network file
 * system that does not respond would block memtap.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "machine/int.h"

#define HUGETLBFS_MAGIC	0x958458f6

/* With less in all of shared memory, nobody is looked for. */
#define WORTH	(4ULL << 20)
/* Mappings are read of processes that have so much. */
#define MAPS	(1ULL << 20)
#define NAMESPACES	256

static const char gone[] = " (deleted)";

/* The mounts that one mount namespace has; of all others the paths are not tmpfs. */
struct mounts {
	__u64 ns;
	struct { char *point; bool tmpfs, remote; } *at;
	size_t nr;
};

struct search {
	const struct machine_at *at;
	struct machine *m;
	struct mounts *all;
	size_t nr;
	__u64 end;
	bool late;
};

static __u64 namespace_of(const struct search *s, const char *who)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/proc/%s/ns/mnt", s->at->root, who);
	return stat(path, &st) ? 0 : st.st_ino;
}

/* Types that ask nobody else. */
static bool is_local(const char *type)
{
	static const char *const types[] = {
		"tmpfs", "devtmpfs", "ext4", "ext3", "ext2", "xfs", "btrfs", "proc", "sysfs",
		"rootfs", "ramfs", "squashfs", "erofs", "overlay", "devpts", "mqueue", "f2fs",
		"zfs", "vfat",
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

static bool begins_with(const char *path, const char *point)
{
	const size_t len = strcmp(point, "/") ? strlen(point) : 0;

	return !strncmp(path, point, len) && (path[len] == '/' || !path[len]);
}

/* -ENOMEM */
static int add_mount(struct mounts *ns, const struct machine_mount *mount)
{
	void *more;

	if (!(ns->nr & (ns->nr + 1))) {
		more = realloc(ns->at, (ns->nr * 2 + 2) * sizeof(ns->at[0]));
		if (!more)
			return -ENOMEM;
		ns->at = more;
	}
	ns->at[ns->nr].point = strdup(mount->point);
	ns->at[ns->nr].tmpfs = !strcmp(mount->type, "tmpfs");
	ns->at[ns->nr].remote = !is_local(mount->type);
	return ns->at[ns->nr].point ? ns->nr++, 0 : -ENOMEM;
}

/* Does the way to it lead through what may ask a server? */
static bool is_behind_remote(const struct mounts *ns, const char *point)
{
	for (size_t i = 0; i < ns->nr; i++)
		if (ns->at[i].remote && begins_with(point, ns->at[i].point))
			return true;
	return false;
}

/* Mounts of the namespace that process @pid is in; if it is not ours, what its tmpfs hold. */
static int read_mounts(struct search *s, const struct machine_holder *p, struct mounts *ns,
		       bool ours)
{
	char path[64], whose[64];
	struct machine_mount mount;
	char *text, *rest, *line;
	int err, ret = 0;

	snprintf(path, sizeof(path), "/proc/%u/mountinfo", p->pid);
	snprintf(whose, sizeof(whose), " in the mounts of %s (%u)", p->name, p->pid);
	rest = text = machine_file(s->at, path, 4 << 20, &err);
	snprintf(path, sizeof(path), "/proc/%u/root", p->pid);
	while (!ret && (line = machine_line(&rest))) {
		if (!mount_parse(line, &mount))
			continue;
		ret = add_mount(ns, &mount);
		if (!ret && !ours && !strcmp(mount.type, "tmpfs") &&
		    !is_behind_remote(ns, mount.point))
			ret = mounts_add_tmpfs(s->at, s->m, &mount, path, whose);
	}
	free(text);
	return ret;
}

/* NULL: not known; -ENOMEM in @err. */
static struct mounts *mounts_of(struct search *s, const struct machine_holder *p, int *err)
{
	char who[16];
	struct mounts *more;
	__u64 ns;

	snprintf(who, sizeof(who), "%u", p->pid);
	ns = namespace_of(s, who);
	for (size_t i = 0; i < s->nr; i++)
		if (s->all[i].ns == ns)
			return ns ? &s->all[i] : NULL;
	if (!ns || s->nr == NAMESPACES)
		return NULL;
	more = realloc(s->all, (s->nr + 1) * sizeof(*more));
	if (!more) {
		*err = -ENOMEM;
		return NULL;
	}
	s->all = more;
	s->all[s->nr] = (struct mounts){ .ns = ns };
	*err = read_mounts(s, p, &s->all[s->nr], ns == namespace_of(s, "self"));
	return &s->all[s->nr++];
}

/* Is a file with this path, which has no name any more, one of tmpfs? */
static bool on_tmpfs(const struct mounts *ns, const char *path)
{
	size_t len, longest = 0;
	bool tmpfs = false;

	if (!strncmp(path, "/memfd:", 7) || !strncmp(path, "/SYSV", 5) ||
	    !strncmp(path, "/dev/zero (", 11))
		return true;
	for (size_t i = 0; ns && i < ns->nr; i++) {
		len = strlen(ns->at[i].point);
		if (len >= longest && begins_with(path, ns->at[i].point)) {
			longest = len;
			tmpfs = ns->at[i].tmpfs;
		}
	}
	return tmpfs;
}

static bool is_gone(const char *path)
{
	const size_t len = strlen(path);

	return path[0] == '/' && len >= sizeof(gone) &&
	       !strcmp(path + len - (sizeof(gone) - 1), gone);
}

/* Huge pages are counted elsewhere. */
static bool is_huge(const char *file, const char *path)
{
	struct statfs fs;

	return !strncmp(path, "/memfd:", 7) && !statfs(file, &fs) &&
	       fs.f_type == HUGETLBFS_MAGIC;
}

/* One holder more of a file, or the first one. */
static int add_file(struct search *s, const struct machine_holder *p, const char *path,
		    const struct stat *st)
{
	const __u64 key = (__u64)st->st_dev << 40 ^ st->st_ino;
	struct machine_list *l = &s->m->deleted;
	char name[PATH_MAX + 32];
	struct machine_holder *h;

	if (!S_ISREG(st->st_mode) || st->st_nlink || st->st_blocks < 8)
		return 0;
	for (size_t i = 0; i < l->nr; i++)
		if (l->at[i].start == key) {
			if (l->at[i].parent != p->pid)
				l->at[i].objects++;
			l->at[i].parent = p->pid;
			return 0;
		}
	snprintf(name, sizeof(name), "%s of %s", path, p->name);
	h = machine_add(l);
	if (!h)
		return -ENOMEM;
	h->name = machine_name(s->m, name, strlen(name));
	if (!h->name) {
		l->nr--;
		return -ENOMEM;
	}
	h->pid = p->pid;
	h->parent = p->pid;		/* the last one that was seen with it */
	h->start = key;
	h->bytes = machine_times((__u64)st->st_blocks, 512);
	h->objects = 1;
	l->has = true;
	return 0;
}

/* A million small ones are not what memory is short of. */
static bool is_full(struct search *s)
{
	if (s->m->deleted.nr < 4096 && machine_now() < s->end)
		return false;
	s->late = true;
	return true;
}

struct open_files {
	struct search *s;
	const struct machine_holder *p;
	const struct mounts *ns;
};

/* 1: there is no time, or no room, for more */
static int see_open(void *ctx, const char *fd, const char *target)
{
	const struct open_files *o = ctx;
	char file[PATH_MAX];
	struct stat st;

	if (is_full(o->s))
		return 1;
	if (!is_gone(target) || !on_tmpfs(o->ns, target))
		return 0;
	snprintf(file, sizeof(file), "%s/proc/%u/fd/%.16s", o->s->at->root, o->p->pid, fd);
	return stat(file, &st) || is_huge(file, target) ? 0 : add_file(o->s, o->p, target, &st);
}

static int search_open(struct search *s, const struct machine_holder *p,
		       const struct mounts *ns)
{
	struct open_files o = { s, p, ns };
	const int ret = machine_each_fd(s->at, p->pid, see_open, &o);

	return ret < 0 ? ret : 0;
}

/* start-end perms offset dev inode path */
static int search_mapped(struct search *s, const struct machine_holder *p,
			 const struct mounts *ns)
{
	char file[64], full[PATH_MAX], *text, *rest, *line, *range, *path;
	struct stat st;
	int err, ret = 0;

	snprintf(file, sizeof(file), "/proc/%u/maps", p->pid);
	rest = text = machine_file(s->at, file, 4 << 20, &err);
	while (!ret && (line = machine_line(&rest)) && !is_full(s)) {
		path = strchr(line, '/');
		if (!path || !is_gone(path) || !on_tmpfs(ns, path))
			continue;
		range = machine_word(&line);
		snprintf(full, sizeof(full), "%s/proc/%u/map_files/%s", s->at->root, p->pid,
			 range);
		if (!stat(full, &st) && !is_huge(full, path))
			ret = add_file(s, p, path, &st);
	}
	free(text);
	return ret;
}

static int by_size(const void *a, const void *b)
{
	const struct machine_holder *x = a, *y = b;

	return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1) : 0;
}

int shmem_read(const struct machine_at *at, struct machine *m)
{
	struct search s = { .at = at, .m = m, .end = machine_now() + at->budget_ns };
	int ret = 0;

	if (m->f.mem[MEM_SHMEM] < WORTH)
		return 0;
	for (size_t i = 0; !ret && i < m->processes.nr && !is_full(&s); i++) {
		const struct machine_holder *p = &m->processes.at[i];
		const struct mounts *ns = mounts_of(&s, p, &ret);

		if (!ret)
			ret = search_open(&s, p, ns);
		if (!ret && p->shmem >= MAPS)
			ret = search_mapped(&s, p, ns);
	}
	if (s.late)
		machine_gap(m, "the open files of some processes were not read for lack of time; "
			    "holders of deleted files may be missing");
	for (size_t i = 0; i < s.nr; i++) {
		for (size_t k = 0; k < s.all[i].nr; k++)
			free(s.all[i].at[k].point);
		free(s.all[i].at);
	}
	free(s.all);
	if (m->deleted.nr)
		qsort(m->deleted.at, m->deleted.nr, sizeof(m->deleted.at[0]), by_size);
	return ret;
}
