// SPDX-License-Identifier: GPL-2.0-or-later
/* Write an output file, and replace the old one when all is written. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/csv.h"
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

static mode_t own_mask(void)
{
	const mode_t mask = umask(0);

	umask(mask);
	return mask;
}

/* @mode 0: as a new file has it, or the old one. */
static int open_file(struct out *o, const char *path, mode_t mode)
{
	struct stat st;

	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return -EISDIR;
		if (!S_ISREG(st.st_mode))
			return out_open_plain(o, path);
		if (access(path, W_OK))
			return -errno;
		mode = mode ? mode : mode_after(&st);
	}
	memset(o, 0, sizeof(*o));
	/* through a symbolic link, so that the link stays */
	if (!realpath(path, o->path) &&
	    snprintf(o->path, sizeof(o->path), "%s", path) >= (int)sizeof(o->path))
		return -ENAMETOOLONG;
	return open_temp(o, mode ? mode : 0666 & ~own_mask());
}

int out_open(struct out *o, const char *path)
{
	return path ? open_file(o, path, 0) : open_std(o);
}

int out_open_own(struct out *o, const char *path)
{
	const int err = open_file(o, path, 0600);

	o->sync = !err && o->temp[0];
	return err;
}

/* So that the name is there after a crash, too; a directory that cannot be read has to do. */
static void sync_dir(char *path)
{
	char *slash = strrchr(path, '/');
	int fd;

	if (slash)
		slash[slash == path] = '\0';
	fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

int out_csv(struct out *o, const char *separator)
{
	FILE *f = csv_open(o->f, separator);

	if (!f)
		return -ENOMEM;
	o->under = o->f;
	o->f = f;
	return 0;
}

/* The file itself is next. */
static int close_upper(struct out *o)
{
	int err = 0;

	if (!o->under)
		return 0;
	errno = 0;
	if (fflush(o->f) || ferror(o->f))
		err = errno ? -errno : -EIO;
	fclose(o->f);
	o->f = o->under;
	o->under = NULL;
	return err;
}

int out_commit(struct out *o)
{
	int err;

	if (!o->f)
		return 0;
	err = close_upper(o);
	if (!err && (fflush(o->f) || ferror(o->f)))
		err = errno ? -errno : -EIO;
	if (!err && o->sync && fsync(fileno(o->f)))
		err = -errno;
	if (o->f != stdout && fclose(o->f) && !err)
		err = -errno;
	o->f = NULL;
	if (!o->temp[0])
		return err;
	if (!err && rename(o->temp, o->path))
		err = -errno;
	if (err)
		unlink(o->temp);
	else if (o->sync)
		sync_dir(o->path);
	return err;
}

void out_abort(struct out *o)
{
	if (!o->f)
		return;
	close_upper(o);
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
