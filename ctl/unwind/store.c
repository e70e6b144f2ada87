// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The directory of cached tables.  Files are read only if this user owns them and no one else can
 * write them.  Files are replaced atomically, so that concurrent tools read either the old or the
 * new one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "unwind/int.h"

#define TEMP		".new-"
#define TEMP_AGE	3600		/* s; older ones have no tool any more */

static const struct {
	const char *dir;
	__u64 file_max, limit;		/* bytes */
} stores[] = {
	[UNWIND_TABLES] = { "unwind", 128ULL << 20, 256ULL << 20 },
	[UNWIND_COMPANIONS] = { "companions", 4ULL << 20, 16ULL << 20 },
};

static int base_path(char path[PATH_MAX])
{
	static const struct {
		const char *variable, *below;
	} places[] = {
		{ "MEMTAP_CACHE", "" },
		{ "XDG_CACHE_HOME", "/memtap" },
		{ "HOME", "/.cache/memtap" },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *value = getenv(places[i].variable);

		if (value && *value == '/')
			return snprintf(path, PATH_MAX, "%s%s", value, places[i].below) <
			       PATH_MAX ? 0 : -ENAMETOOLONG;
	}
	strcpy(path, "/var/cache/memtap");
	return 0;
}

static void make_parents(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	mkdir(path, 0700);
}

static bool is_ours(int fd, mode_t type)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_mode & S_IFMT) == type &&
	       st.st_uid == geteuid() && !(st.st_mode & 0022);
}

static int open_dir(int at, const char *path)
{
	const int dir = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0)
		return -errno;
	if (is_ours(dir, S_IFDIR))
		return dir;
	close(dir);
	return -EPERM;
}

static int open_store(enum unwind_store store, bool make)
{
	char path[PATH_MAX];
	int base, dir;
	int err = base_path(path);

	if (err)
		return err;
	if (make)
		make_parents(path);
	base = open_dir(AT_FDCWD, path);
	if (base < 0)
		return base;
	if (make)
		mkdirat(base, stores[store].dir, 0700);
	dir = open_dir(base, stores[store].dir);
	close(base);
	return dir;
}

static int read_all(int fd, char **buf, size_t *len, __u64 max)
{
	struct stat st;
	size_t done = 0;
	ssize_t n;

	if (fstat(fd, &st))
		return -errno;
	if ((__u64)st.st_size > max)
		return -EFBIG;
	*len = (size_t)st.st_size;
	*buf = malloc(*len + 1);
	if (!*buf)
		return -ENOMEM;
	while (done < *len) {
		n = read(fd, *buf + done, *len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			free(*buf);
			return n ? -errno : -EIO;
		}
		done += (size_t)n;
	}
	(*buf)[done] = '\0';
	return 0;
}

int unwind_store_read(enum unwind_store store, const char *name, char **buf, size_t *len)
{
	const int dir = open_store(store, false);
	int fd, err;

	if (dir < 0)
		return dir;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	err = fd < 0 ? -errno : 0;
	close(dir);
	if (err)
		return err;
	err = is_ours(fd, S_IFREG) ? read_all(fd, buf, len, stores[store].file_max) : -EPERM;
	if (!err)
		futimens(fd, NULL);	/* what is used is not the oldest */
	close(fd);
	return err;
}

static int write_all(int fd, const struct iovec *iov, int nr)
{
	for (int i = 0; i < nr; i++) {
		const char *p = iov[i].iov_base;
		size_t left = iov[i].iov_len;

		while (left) {
			const ssize_t n = write(fd, p, left);

			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				return n ? -errno : -EIO;
			p += n;
			left -= (size_t)n;
		}
	}
	return 0;
}

static int replace(int dir, const char *name, const struct iovec *iov, int nr)
{
	static unsigned int count;
	char temp[64];
	int fd, err;

	snprintf(temp, sizeof(temp), TEMP "%ld-%u", (long)getpid(),
		 __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED));
	unlinkat(dir, temp, 0);		/* of one that had our number, long ago */
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = write_all(fd, iov, nr);
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(dir, temp, dir, name))
		err = -errno;
	if (err)
		unlinkat(dir, temp, 0);
	return err;
}

int unwind_store_write(enum unwind_store store, const char *name, const struct iovec *iov,
		       int nr)
{
	const int dir = open_store(store, true);
	__u64 len = 0;
	int err;

	if (dir < 0)
		return dir;
	for (int i = 0; i < nr; i++)
		len += iov[i].iov_len;
	err = len > stores[store].file_max ? -EFBIG : replace(dir, name, iov, nr);
	if (!err)
		unwind_store_prune(dir, stores[store].limit);
	close(dir);
	return err;
}

struct kept {
	char name[UNWIND_NAME_MAX];
	struct timespec used;
	__u64 size;
};

static int by_age(const void *a, const void *b)
{
	const struct timespec *x = &((const struct kept *)a)->used;
	const struct timespec *y = &((const struct kept *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* What is in the directory; temporary files that were left behind go at once. */
static size_t list(DIR *d, struct kept **out, __u64 *sum)
{
	struct kept *all = NULL, *more;
	size_t nr = 0, room = 0;
	struct dirent *e;
	struct stat st;

	*sum = 0;
	while ((e = readdir(d))) {
		if (strlen(e->d_name) >= UNWIND_NAME_MAX ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		if (!strncmp(e->d_name, TEMP, strlen(TEMP))) {
			if (st.st_mtim.tv_sec + TEMP_AGE < time(NULL))
				unlinkat(dirfd(d), e->d_name, 0);
			continue;
		}
		if (nr == room) {
			room = room ? 2 * room : 64;
			more = reallocarray(all, room, sizeof(*all));
			if (!more)
				break;
			all = more;
		}
		strcpy(all[nr].name, e->d_name);
		all[nr].used = st.st_mtim;
		all[nr].size = (__u64)st.st_size;
		*sum += all[nr++].size;
	}
	*out = all;
	return nr;
}

void unwind_store_prune(int dir, __u64 limit)
{
	const int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = own < 0 ? NULL : fdopendir(own);
	struct kept *all;
	__u64 sum;
	size_t nr;

	if (!d) {
		if (own >= 0)
			close(own);
		return;
	}
	nr = list(d, &all, &sum);
	if (nr)
		qsort(all, nr, sizeof(*all), by_age);
	for (size_t i = 0; i < nr && sum > limit; i++) {
		unlinkat(dir, all[i].name, 0);
		sum -= all[i].size;
	}
	free(all);
	closedir(d);
}
