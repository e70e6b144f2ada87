// SPDX-License-Identifier: GPL-2.0-or-later
/* Read mounts, the contents of each tmpfs, and memory cgroups (v1 and v2). */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/words.h"
#include "machine/int.h"

/* \040 and its like, in place */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			const int c = (s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0');

			*to++ = (char)(c ? c : '?');
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

/* 36 35 98:0 /root /point options [optional ...] - type source super-options */
bool mount_parse(char *line, struct machine_mount *mount)
{
	char *dash = strstr(line, " - "), *word, *colon, *point;
	__u64 major, minor;

	if (!dash)
		return false;
	*dash = '\0';
	dash += 3;
	machine_word(&line);
	machine_word(&line);
	word = machine_word(&line);
	colon = word ? strchr(word, ':') : NULL;
	if (!colon)
		return false;
	*colon = '\0';
	if (!machine_number(word, &major) || !machine_number(colon + 1, &minor))
		return false;
	machine_word(&line);
	point = machine_word(&line);
	mount->type = machine_word(&dash);
	machine_word(&dash);
	mount->super = machine_word(&dash);
	if (!point || point[0] != '/' || !mount->type)
		return false;
	unescape(point);
	mount->point = point;
	mount->major = (__u32)major;
	mount->minor = (__u32)minor;
	return true;
}

static int statvfs_space(const struct machine_at *at, const char *path, __u64 *used,
			 __u64 *size)
{
	char full[PATH_MAX];
	struct statvfs s;

	if ((size_t)snprintf(full, sizeof(full), "%s%s", at->root, path) >= sizeof(full))
		return -ENAMETOOLONG;
	if (statvfs(full, &s))
		return -errno;
	*size = machine_times(s.f_blocks, s.f_frsize);
	*used = machine_times(s.f_blocks - s.f_bfree, s.f_frsize);
	return 0;
}

/* A tmpfs may be mounted in several places, and is one. */
int mounts_add_tmpfs(const struct machine_at *at, struct machine *m,
		     const struct machine_mount *mount, const char *below, const char *whose)
{
	const __u64 device = (__u64)mount->major << 32 | mount->minor;
	char path[PATH_MAX], name[PATH_MAX];
	struct machine_holder *h;
	__u64 used, size;
	int err;

	if ((size_t)snprintf(path, sizeof(path), "%s%s", below, mount->point) >= sizeof(path) ||
	    (size_t)snprintf(name, sizeof(name), "%s%s", mount->point, whose) >= sizeof(name))
		return 0;

	for (size_t i = 0; i < m->tmpfs.nr; i++)
		if (m->tmpfs.at[i].start == device)
			return 0;
	err = at->space ? at->space(at, path, &used, &size) :
	      statvfs_space(at, path, &used, &size);
	if (err)
		return 0;	/* another one is mounted over it */
	h = machine_add(&m->tmpfs);
	if (!h)
		return -ENOMEM;
	h->name = machine_name(m, name, strlen(name));
	h->start = device;
	h->bytes = used;
	h->size = size;
	if (!h->name) {
		m->tmpfs.nr--;
		return -ENOMEM;
	}
	m->tmpfs.has = true;
	return 0;
}

struct walk {
	const struct machine_at *at;
	struct machine *m;
	char path[PATH_MAX];		/* of the cgroup, below the root */
	size_t top;			/* length of the mount point in it */
	__u64 end;
	size_t late;
	__u64 usage;			/* of the cgroup that was read last, or USAGE_UNKNOWN */
};

#define USAGE_UNKNOWN	(~0ULL)

static char *group_file(struct walk *w, const char *name)
{
	const size_t len = strlen(w->path);
	char *text;
	int err;

	if (len + strlen(name) + 2 > sizeof(w->path))
		return NULL;
	w->path[len] = '/';
	strcpy(w->path + len + 1, name);
	text = machine_file(w->at, w->path, FILE_SMALL, &err);
	w->path[len] = '\0';
	return text;
}

static bool group_limit(struct walk *w, const char *name, __u64 *v)
{
	char *text = group_file(w, name);
	bool ok;

	if (!text)
		return false;
	ok = limit_parse(text, v);
	free(text);
	return ok;
}

static void group_pair(struct walk *w, const char *file, const char *name, __u64 *v)
{
	char *text = group_file(w, file);

	if (text)
		pairs_value(text, name, v);
	free(text);
}

/*
 * Anonymous memory and page cache of one that has a limit, or was over memory.high: the file costs
 * much.  tmpfs is counted in page cache, too.
 */
static void group_cache(struct walk *w, struct machine_holder *h, const char *anon,
			const char *cache, const char *shmem)
{
	char *text = h->size == ~0ULL && !h->highs ? NULL : group_file(w, "memory.stat");
	__u64 shared = 0;

	if (text)
		pairs_value(text, anon, &h->anon);
	if (text && pairs_value(text, cache, &h->file)) {
		pairs_value(text, shmem, &shared);
		h->file -= shared < h->file ? shared : h->file;
	}
	free(text);
}

static void group_v2(struct walk *w, struct machine_holder *h)
{
	char *text;

	group_limit(w, "memory.max", &h->size);
	text = group_file(w, "memory.events");
	if (text) {
		pairs_value(text, "max", &h->hits);
		pairs_value(text, "high", &h->highs);
		pairs_value(text, "oom_kill", &h->oom_kills);
		free(text);
	}
	group_limit(w, "memory.swap.current", &h->swap);
	group_cache(w, h, "anon", "file", "shmem");
	group_pair(w, "cgroup.stat", "nr_dying_descendants", &h->dying);
}

static void group_v1(struct walk *w, struct machine_holder *h)
{
	__u64 both;

	group_limit(w, "memory.limit_in_bytes", &h->size);
	group_limit(w, "memory.failcnt", &h->hits);
	group_pair(w, "memory.oom_control", "oom_kill", &h->oom_kills);
	group_cache(w, h, "total_rss", "total_cache", "total_shmem");
	group_limit(w, "memory.kmem.usage_in_bytes", &h->kernel);
	if (group_limit(w, "memory.memsw.usage_in_bytes", &both) && both > h->bytes)
		h->swap = both - h->bytes;
}

static int one_group(struct walk *w)
{
	struct machine *m = w->m;
	struct machine_holder h = { .size = ~0ULL };
	struct machine_holder *new;
	const char *path = w->path + w->top;

	w->usage = USAGE_UNKNOWN;
	m->cgroups_seen++;
	if (w->late || machine_now() > w->end) {
		w->late++;
		return 0;
	}
	if (!group_limit(w, m->cgroup2 ? "memory.current" : "memory.usage_in_bytes", &h.bytes))
		return 0;	/* the root of v2, or without the controller */
	w->usage = h.bytes;
	if (m->cgroup2)
		group_v2(w, &h);
	else
		group_v1(w, &h);
	if (!*path)
		path = "/";
	h.name = machine_name(m, path, strlen(path));
	new = h.name ? machine_add(&m->cgroups) : NULL;
	if (!new)
		return -ENOMEM;
	*new = h;
	m->cgroups.has = true;
	return 0;
}

/* Unreclaimable slab of the cgroup at w->path and those below it. */
static __u64 group_slab(struct walk *w)
{
	__u64 v = 0;

	if (w->m->cgroup2)
		group_pair(w, "memory.stat", "slab_unreclaimable", &v);
	else
		group_limit(w, "memory.kmem.usage_in_bytes", &v);
	return v;
}

/* @slab: the sum of what its live children have; @held: what it has more than they. */
static void count_dead(struct walk *w, __u64 slab, __u64 held)
{
	char *processes = group_file(w, "cgroup.procs");
	__u64 own;

	/* where there are some, what it has may be theirs */
	if (processes && !*processes) {
		own = group_slab(w);
		w->m->dead_kernel += own > slab ? own - slab : 0;
		w->m->dead_bytes += held;
	}
	free(processes);
}

/* Is something charged below it that is gone?  v1 does not say. */
static bool has_dead(struct walk *w)
{
	__u64 v = 1;

	if (w->m->cgroup2)
		group_pair(w, "cgroup.stat", "nr_dying_descendants", &v);
	return v && w->path[w->top] && !w->late;
}

#define GROUP_DEPTH	32

static int walk_groups(struct walk *w, int depth)
{
	const size_t len = strlen(w->path);
	const bool dead = has_dead(w);
	char full[PATH_MAX];
	__u64 slab = 0, held = 0, own;
	struct dirent *d;
	bool known;
	int ret;
	DIR *dir;

	ret = one_group(w);
	own = w->usage;
	known = own != USAGE_UNKNOWN;
	if (ret || depth == GROUP_DEPTH || w->late > 100000 ||
	    (size_t)snprintf(full, sizeof(full), "%s%s", w->at->root, w->path) >= sizeof(full))
		return ret;
	dir = opendir(full);
	if (!dir)
		return 0;
	while (!ret && (d = readdir(dir))) {
		if (d->d_type != DT_DIR || d->d_name[0] == '.' ||
		    len + strlen(d->d_name) + 2 > sizeof(w->path))
			continue;
		w->path[len] = '/';
		strcpy(w->path + len + 1, d->d_name);
		ret = walk_groups(w, depth + 1);
		if (dead)
			slab += group_slab(w);
		/* processes of one without the controller are charged to this one */
		known &= w->usage != USAGE_UNKNOWN;
		held += known ? w->usage : 0;
		w->path[len] = '\0';
	}
	closedir(dir);
	if (dead && known)
		count_dead(w, slab, own > held ? own - held : 0);
	w->usage = own;
	return ret;
}

/* Of v2 the root has no usage: where no other is, none is read. */
static bool has_controller(struct walk *w)
{
	char *text = w->m->cgroup2 ? group_file(w, "cgroup.controllers") : NULL;
	bool has = !w->m->cgroup2;

	if (text) {
		text[strcspn(text, "\n")] = '\0';
		for (char *rest = text, *word; !has && (word = strsep(&rest, " "));)
			has = !strcmp(word, "memory");
	}
	free(text);
	return has;
}

/*
 * v2: the root says how many are gone.  v1: /proc/cgroups counts those, too; what is more
 * than there are directories was removed.
 */
static void count_dying(struct walk *w)
{
	struct machine *m = w->m;
	char *text, *line, *rest, *word;
	__u64 nr;
	int err;

	if (m->cgroup2) {
		group_pair(w, "cgroup.stat", "nr_dying_descendants", &m->dying);
		return;
	}
	rest = text = machine_file(w->at, "/proc/cgroups", FILE_SMALL, &err);
	while ((line = machine_line(&rest))) {
		word = machine_word(&line);
		if (!word || strcmp(word, "memory"))
			continue;
		machine_word(&line);
		if (machine_number(machine_word(&line), &nr) && nr > m->cgroups_seen)
			m->dying = nr - m->cgroups_seen;
	}
	free(text);
}

int cgroups_read(const struct machine_at *at, struct machine *m)
{
	struct walk w = { .at = at, .m = m };
	int err = 0, ret = 0;
	char *text = machine_file(at, "/proc/self/mountinfo", 4 << 20, &err);
	struct machine_mount mount;
	char v1[256] = "", v2[256] = "", *rest = text, *line;

	if (!text) {
		machine_gap(m, "/proc/self/mountinfo: %s; cgroups and tmpfs mounts are unknown",
			    strerror(-err));
		return 0;
	}
	while (!ret && (line = machine_line(&rest))) {
		if (!mount_parse(line, &mount))
			continue;
		if (!strcmp(mount.type, "tmpfs") || !strcmp(mount.type, "devtmpfs"))
			ret = mounts_add_tmpfs(at, m, &mount, "", "");
		else if (!strcmp(mount.type, "cgroup2") && !*v2)
			snprintf(v2, sizeof(v2), "%s", mount.point);
		else if (!strcmp(mount.type, "cgroup") && has_word(mount.super, "memory") && !*v1)
			snprintf(v1, sizeof(v1), "%s", mount.point);
	}
	free(text);
	if (ret || (!*v1 && !*v2))
		return ret;
	/* where both are, v1 has the controller */
	m->cgroup2 = !*v1;
	snprintf(w.path, sizeof(w.path), "%s", *v1 ? v1 : v2);
	if (!strcmp(w.path, "/"))
		w.path[0] = '\0';
	w.top = strlen(w.path);
	w.end = machine_now() + at->budget_ns;
	m->cgroups.has = has_controller(&w);
	ret = walk_groups(&w, 0);
	count_dying(&w);
	m->cgroups.late = w.late;
	if (w.late)
		machine_gap(m, "%zu of %zu cgroups were not read for lack of time; one of them may "
			    "grow", w.late, m->cgroups_seen);
	return ret;
}
