// SPDX-License-Identifier: GPL-2.0-or-later
/* Snapshots in and out of file descriptors. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "snap/int.h"
#include "sym/sym.h"

#define READ_STEP	(256 * 1024)

static bool has_magic(const void *bytes)
{
	__u64 magic;

	memcpy(&magic, (const char *)bytes + offsetof(struct memtap_rec_header, magic),
	       sizeof(magic));
	return magic == MEMTAP_MAGIC;
}

/* What cannot be a snapshot is not read to its end: it may have none. */
static int read_all(int fd, char **bytes, size_t *len)
{
	size_t room = 0;
	ssize_t n;

	*bytes = NULL;
	*len = 0;
	for (;;) {
		if (room - *len < READ_STEP) {
			char *p = realloc(*bytes, room = 2 * room + READ_STEP);

			if (!p)
				return -ENOMEM;
			*bytes = p;
		}
		n = read(fd, *bytes + *len, room - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return 0;
		*len += n;
		if (*len >= 16 && !has_magic(*bytes))
			return 0;
	}
}

int snap_from_fd(int fd, struct snap **out, char err[256])
{
	char *bytes;
	size_t len;
	int ret;

	*out = NULL;
	ret = read_all(fd, &bytes, &len);
	if (ret) {
		free(bytes);
		return snap_bad(err, ret, "it cannot be read: %s", strerror(-ret));
	}
	return snap_decode(bytes, len, out, err);
}

static int write_all(FILE *f, const struct snap *s, struct sym *sym,
		     const char *const *notes)
{
	int err;

	errno = 0;
	fwrite(s->bytes, 1, s->device_len, f);
	err = snap_put_names(f, s, sym, notes);
	if (err)
		return err;
	if (fflush(f) || ferror(f))
		return errno ? -errno : -EIO;
	return 0;
}

/* A device or a pipe cannot be replaced, only written to. */
static int save_in_place(const struct snap *s, struct sym *sym,
			 const char *const *notes, const char *path)
{
	FILE *f = fopen(path, "we");
	int err;

	if (!f)
		return -errno;
	err = write_all(f, s, sym, notes);
	if (fclose(f) && !err)
		err = -errno;
	return err;
}

static int sync_dir(const char *path)
{
	char dir[PATH_MAX];
	char *slash;
	int fd;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = 0;
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;	/* not readable: the file is complete anyway */
	fsync(fd);
	return close(fd);
}

static int save_by_rename(const struct snap *s, struct sym *sym,
			  const char *const *notes, const char *path)
{
	char tmp[PATH_MAX];
	FILE *f;
	int fd, err;

	if (snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path) >= (int)sizeof(tmp))
		return -ENAMETOOLONG;
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	f = fdopen(fd, "w");
	if (!f) {
		err = -errno;
		close(fd);
		unlink(tmp);
		return err;
	}
	err = write_all(f, s, sym, notes);
	if (!err && fsync(fd))
		err = -errno;
	if (fclose(f) && !err)
		err = -errno;
	if (!err && rename(tmp, path))
		err = -errno;
	if (err)
		unlink(tmp);
	else
		sync_dir(path);
	return err;
}

int snap_save(const struct snap *s, struct sym *sym, const char *const *notes,
	      const char *path)
{
	char real[PATH_MAX];
	struct stat st;

	if (!s->bytes)
		return -EINVAL;		/* a difference has no bytes of its own */
	if (stat(path, &st))
		return errno == ENOENT ? save_by_rename(s, sym, notes, path) : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return save_in_place(s, sym, notes, path);
	/* Through a symbolic link: what it points to is replaced, not the link. */
	if (!realpath(path, real))
		return -errno;
	return save_by_rename(s, sym, notes, real);
}
