// SPDX-License-Identifier: GPL-2.0-or-later
/* Open regular files only: never a device or a FIFO. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/openreg.h"

#define PLAINLY	(O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)

/* Without /proc: by its name, if that is still its. */
static int open_by_name(int dir, const char *path, int flags, const struct stat *is)
{
	const int fd = openat(dir, path, PLAINLY | flags);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_dev == is->st_dev && st.st_ino == is->st_ino)
		return fd;
	close(fd);
	return -ENOENT;
}

/* The very file that was looked at, whatever has its name by now. */
static int open_again(int at)
{
	char link[32];
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
	fd = open(link, PLAINLY);
	return fd < 0 ? -errno : fd;
}

int open_regular(const char *path)
{
	return open_regular_at(AT_FDCWD, path, 0);
}

int open_regular_at(int dir, const char *path, int flags)
{
	/* which opens nothing: no driver is asked */
	const int at = openat(dir, path, O_PATH | O_CLOEXEC | flags);
	struct stat st;
	int fd;

	if (at < 0)
		return -errno;
	if (fstat(at, &st))
		fd = -errno;
	else
		fd = S_ISREG(st.st_mode) ? open_again(at) : -ENOEXEC;
	if (fd == -ENOENT)
		fd = open_by_name(dir, path, flags, &st);
	close(at);
	return fd;
}
