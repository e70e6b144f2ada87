// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/out.h"

static int open_std(struct out *o)
{
	memset(o, 0, sizeof(*o));
	o->f = stdout;
	return 0;
}

int out_open_plain(struct out *o, const char *path)
{
	if (!path)
		return open_std(o);
	memset(o, 0, sizeof(*o));
	if (snprintf(o->path, sizeof(o->path), "%s", path) >= (int)sizeof(o->path))
		return -ENAMETOOLONG;
	o->f = fopen(path, "we");
	return o->f ? 0 : -errno;
}

/* A temporary neighbour: rename() needs the same file system. */
static int open_temp(struct out *o, mode_t mode)
{
	int fd, err;

	snprintf(o->temp, sizeof(o->temp), "%s.XXXXXX", o->path);
	fd = mkostemp(o->temp, O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		o->temp[0] = '\0';
		return err;
	}
	if (fchmod(fd, mode) || !(o->f = fdopen(fd, "w"))) {
		err = -errno;
		close(fd);
		unlink(o->temp);
		return err;
	}
	return 0;
}

/*
 * Those of the file that is replaced, but no more than rights: the new file is ours.
 * Where the old one is not, whoever made it has no say in who else may write to ours.
 */
static mode_t mode_after(const struct stat *old)
{
	const mode_t mode = old->st_mode & 0777;

	return old->st_uid == geteuid() ? mode : mode & ~022;
}

int out_open(struct out *o, const char *path)
{
	const mode_t mask = umask(0);
	mode_t mode = 0666 & ~mask;
	struct stat st;

	umask(mask);
	if (!path)
		return open_std(o);
	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return -EISDIR;
		if (!S_ISREG(st.st_mode))
			return out_open_plain(o, path);
		if (access(path, W_OK))
			return -errno;
		mode = mode_after(&st);
	}
	memset(o, 0, sizeof(*o));
	/* through a symbolic link, so that the link stays */
	if (!realpath(path, o->path) &&
	    snprintf(o->path, sizeof(o->path), "%s", path) >= (int)sizeof(o->path))
		return -ENAMETOOLONG;
	return open_temp(o, mode);
}

int out_commit(struct out *o)
{
	int err = 0;

	if (!o->f)
		return 0;
	if (fflush(o->f) || ferror(o->f))
		err = errno ? -errno : -EIO;
	if (o->f != stdout && fclose(o->f) && !err)
		err = -errno;
	o->f = NULL;
	if (!o->temp[0])
		return err;
	if (!err && rename(o->temp, o->path))
		err = -errno;
	if (err)
		unlink(o->temp);
	return err;
}

void out_abort(struct out *o)
{
	if (!o->f)
		return;
	if (o->f != stdout)
		fclose(o->f);
	o->f = NULL;
	if (o->temp[0])
		unlink(o->temp);
}

int out_check(const char *path)
{
	struct stat st;
	struct out o = { 0 };
	int err;

	/* what is no file may not like to be opened and closed */
	if (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return access(path, W_OK) ? -errno : 0;
	err = out_open(&o, path);
	if (!err)
		out_abort(&o);
	return err;
}
