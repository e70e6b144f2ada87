// SPDX-License-Identifier: GPL-2.0-or-later
/* Read this machine's shared memory and its users. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/maps.h"
#include "target/procs.h"
#include "target/shm.h"

#define DEV_SHM	"/dev/shm"

struct reading {
	struct shm *shm;
	pid_t pid;
	int err;
};

static void set_size(struct shm_segment *at, const struct stat *st)
{
	if (at->kind == SHM_SYSV)
		return;
	at->size = (__u64)st->st_size;
	at->used = (__u64)st->st_blocks * 512;
	at->sized = true;
}

static int see_map(const struct procmap *m, void *ctx)
{
	struct reading *r = ctx;
	struct shm_segment *at;
	char path[96];
	struct stat st;

	r->err = shm_add_map(r->shm, r->pid, m, &at);
	if (r->err || !at || at->sized)
		return r->err;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", r->pid,
		 (unsigned long long)m->start, (unsigned long long)m->end);
	if (!stat(path, &st))
		set_size(at, &st);
	return 0;
}

static int see_fd(struct reading *r, int dir, const char *name)
{
	struct shm_segment *at;
	char link[PATH_MAX];
	struct stat st;
	ssize_t len;

	len = readlinkat(dir, name, link, sizeof(link) - 1);
	if (len < 0 || *link != '/')
		return 0;
	link[len] = '\0';
	/* a stat() of what it is not about may never return */
	if (strncmp(link, "/memfd:", 7) && strncmp(link, DEV_SHM "/", sizeof(DEV_SHM)))
		return 0;
	if (fstatat(dir, name, &st, 0))
		return 0;
	r->err = shm_add_fd(r->shm, r->pid, link, st.st_dev, st.st_ino, &at);
	if (!r->err && at)
		set_size(at, &st);
	return r->err;
}

static int see_process(pid_t pid, void *ctx)
{
	struct reading *r = ctx;
	const struct dirent *e;
	char path[32];
	DIR *d;

	r->pid = pid;
	procmaps_read(pid, see_map, r);
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	if (!d) {
		r->shm->unread += errno != ENOENT && errno != ESRCH;
		return r->err;
	}
	while (!r->err && (e = readdir(d)))
		if (*e->d_name != '.')
			see_fd(r, dirfd(d), e->d_name);
	closedir(d);
	return r->err;
}

/* Also what nobody holds. */
static int see_files(struct shm *s)
{
	DIR *d = opendir(DEV_SHM);
	const struct dirent *e;
	struct shm_segment *at;
	struct stat st;
	int err = 0;

	while (d && !err && (e = readdir(d))) {
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		err = shm_add_file(s, e->d_name, st.st_ino, &at);
		if (!err)
			set_size(at, &st);
	}
	if (d)
		closedir(d);
	return err;
}

static int by_size(const void *va, const void *vb)
{
	const struct shm_segment *a = va, *b = vb;

	if (a->used != b->used)
		return a->used > b->used ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return strcmp(a->name, b->name);
}

int shm_read(struct shm *s)
{
	struct reading r = { .shm = s };
	struct stat st;
	char *text;
	size_t len;
	int err = 0;

	memset(s, 0, sizeof(*s));
	if (!stat(DEV_SHM, &st))
		s->posix_dev = st.st_dev;
	if (!maps_slurp(AT_FDCWD, "/proc/sysvipc/shm", &text, &len)) {
		err = shm_parse_sysv(s, text);
		free(text);
	}
	if (!err)
		err = see_files(s);
	if (!err)
		err = procs_each(see_process, &r);
	if (!err && s->nr)
		qsort(s->at, s->nr, sizeof(*s->at), by_size);
	return err;
}
