// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the texts and names of shared memory in /proc and /dev/shm. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "target/shm.h"

#define DELETED		" (deleted)"
#define MEMFD		"/memfd:"
#define SYSV		"/SYSV"

static struct shm_segment *find(struct shm *s, enum shm_kind kind, __u64 dev, __u64 inode)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->at[i].kind == kind && s->at[i].dev == dev && s->at[i].inode == inode)
			return &s->at[i];
	return NULL;
}

/* Pointers to segments hold until the next one is added. */
static struct shm_segment *get(struct shm *s, enum shm_kind kind, __u64 dev, __u64 inode)
{
	struct shm_segment *at = find(s, kind, dev, inode);

	if (at)
		return at;
	if (s->nr == s->room) {
		const size_t room = s->room ? 2 * s->room : 64;
		void *more = realloc(s->at, room * sizeof(*s->at));

		if (!more)
			return NULL;
		s->at = more;
		s->room = room;
	}
	at = &s->at[s->nr++];
	memset(at, 0, sizeof(*at));
	at->kind = kind;
	at->dev = dev;
	at->inode = inode;
	return at;
}

static struct shm_holder *holder(struct shm_segment *at, pid_t pid)
{
	void *more;

	/* processes come one after the other */
	if (at->nr_holders && at->holders[at->nr_holders - 1].pid == pid)
		return &at->holders[at->nr_holders - 1];
	more = realloc(at->holders, (at->nr_holders + 1) * sizeof(*at->holders));
	if (!more)
		return NULL;
	at->holders = more;
	at->holders[at->nr_holders] = (struct shm_holder){ .pid = pid };
	return &at->holders[at->nr_holders++];
}

static void set_name(struct shm_segment *at, const char *name, size_t len)
{
	snprintf(at->name, sizeof(at->name), "%.*s", (int)len, name);
}

/* Without what the kernel adds to files that have no name any more. */
static size_t name_len(const char *path)
{
	const size_t len = strlen(path), tail = strlen(DELETED);

	return len > tail && !strcmp(path + len - tail, DELETED) ? len - tail : len;
}

int shm_parse_sysv(struct shm *s, char *text)
{
	char *line, *rest;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		uint64_t size, rss = 0, swap = 0, atime, dtime, ctime;
		unsigned int perms, attached, uid, gid, cuid, cgid;
		struct shm_segment *at;
		int key, id, creator, last;

		if (sscanf(line, "%d %d %o %" SCNu64 " %d %d %u %u %u %u %u %" SCNu64 " %" SCNu64
			   " %" SCNu64 " %" SCNu64 " %" SCNu64, &key, &id, &perms, &size, &creator,
			   &last, &attached, &uid, &gid, &cuid, &cgid, &atime, &dtime, &ctime,
			   &rss, &swap) < 14 || id < 0)
			continue;
		at = get(s, SHM_SYSV, 0, (__u64)id);
		if (!at)
			return -ENOMEM;
		at->key = key;
		at->perms = perms;
		at->size = size;
		at->used = rss + swap;
		at->swapped = swap;
		at->sized = true;
		at->attached = attached;
		at->creator = creator;
		at->last = last;
		snprintf(at->name, sizeof(at->name), "shmid %d", id);
	}
	return 0;
}

/* "/SYSV0000abcd (deleted)": the key, in eight digits; its inode is its number. */
static bool is_sysv(const char *path)
{
	return !strncmp(path, SYSV, strlen(SYSV)) && strlen(path) >= strlen(SYSV) + 8 &&
	       strspn(path + strlen(SYSV), "0123456789abcdef") == 8;
}

/* @which: NULL where it is none. */
static int find_path(struct shm *s, const char *path, __u64 dev, __u64 inode,
		     struct shm_segment **which)
{
	const bool memfd = !strncmp(path, MEMFD, strlen(MEMFD));

	*which = NULL;
	if (memfd) {
		*which = get(s, SHM_MEMFD, dev, inode);
	} else if (is_sysv(path)) {
		/* one of another IPC namespace is not in our list */
		*which = find(s, SHM_SYSV, 0, inode);
		return 0;
	} else if (s->posix_dev && dev == s->posix_dev) {
		*which = get(s, SHM_POSIX, dev, inode);
	} else {
		return 0;
	}
	if (!*which)
		return -ENOMEM;
	if (!*(*which)->name)
		set_name(*which, memfd ? path + 1 : path, name_len(path) - memfd);
	return 0;
}

int shm_add_map(struct shm *s, pid_t pid, const struct procmap *m, struct shm_segment **which)
{
	struct shm_holder *h;
	int err;

	err = find_path(s, m->path, makedev(m->dev_major, m->dev_minor), m->inode, which);
	if (err || !*which)
		return err;
	h = holder(*which, pid);
	if (!h)
		return -ENOMEM;
	h->maps++;
	return 0;
}

int shm_add_fd(struct shm *s, pid_t pid, const char *link, __u64 dev, __u64 inode,
	       struct shm_segment **which)
{
	struct shm_holder *h;
	const int err = find_path(s, link, dev, inode, which);

	if (err || !*which)
		return err;
	h = holder(*which, pid);
	if (!h)
		return -ENOMEM;
	h->fds++;
	return 0;
}

int shm_add_file(struct shm *s, const char *name, __u64 inode, struct shm_segment **which)
{
	*which = get(s, SHM_POSIX, s->posix_dev, inode);
	if (!*which)
		return -ENOMEM;
	if (!*(*which)->name)
		snprintf((*which)->name, sizeof((*which)->name), "/dev/shm/%s", name);
	return 0;
}

void shm_free(struct shm *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->at[i].holders);
	free(s->at);
	memset(s, 0, sizeof(*s));
}
