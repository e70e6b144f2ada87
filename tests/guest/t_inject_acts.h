/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _T_INJECT_ACTS_H
#define _T_INJECT_ACTS_H

/* What can be done with a session, and is no ioctl: -1 and errno when it failed. */
#include <poll.h>
#include <sys/wait.h>

#include "t_inject.h"

static int fd = -1, exe = -1;		/* the session, and this program */
static char bytes_read[1 << 20];
static size_t nr_read;

static long act_open(void)
{
	fd = open(MEMTAP_DEVICE, O_RDWR | O_CLOEXEC);
	return fd;
}

static long act_close(void)
{
	int was = fd;

	fd = -1;
	return close(was);
}

/* What an attempt that failed has read is not read again. */
static long act_read(void)
{
	struct bytes b = { bytes_read, 0 };
	ssize_t n;

	do {
		n = read(fd, bytes_read + nr_read, 50000);
		if (n < 0)
			return -1;
		nr_read += n;
	} while (n);
	b.len = nr_read;
	if (!whole(&b))
		return 0;
	errno = EBADMSG;
	return -1;
}

static long act_poll(void)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLPRI };

	return poll(&p, 1, 0);
}

static long act_hits(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (probed(i) != (int)i + 1 || handed_out(1, i) != blocks[i])
			return -1;
	return 0;
}

static long act_map(void)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, exe, 0);
	int err;

	if (at == MAP_FAILED)
		return -1;
	if (!munmap(at, 4096))
		return 0;
	/* one fault in each call: the next is not refused */
	err = errno;
	munmap(at, 4096);
	errno = err;
	return -1;
}

static long act_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(probed(0) != 1);
	return pid < 0 ? -1 : waitpid(pid, NULL, 0);
}

static long act_debugfs(void)
{
	static const char *const files[] = { "summary", "hooks", "sessions", "stacks/minor-fault",
		"slab", "pages" };
	char name[128];
	unsigned int i;
	ssize_t n;
	int f;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(name, sizeof(name), DEBUGFS "memtap/%s", files[i]);
		f = open(name, O_RDONLY | O_CLOEXEC);
		if (f < 0)
			return -1;
		do
			n = read(f, bytes_read, sizeof(bytes_read));
		while (n > 0);
		close(f);
		if (n < 0)
			return -1;
	}
	return 0;
}

static long act_watch(void)
{
	return put_text(PARAMETER("watch"), "fault") ? 0 : -1;
}

static long act_unwatch(void)
{
	return put_text(PARAMETER("watch"), "\n") ? 0 : -1;
}

#endif
