// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read addresses that the kernel stores for a process and returns later: arguments of epoll_ctl()
 * and timer_create().  These may be the only copies.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leaks/reach_int.h"
#include "target/maps.h"

/* The hexadecimal number behind @key in each line that has it. */
static int take_numbers(struct layout *l, const char *path, const char *key)
{
	char *text, *at;
	int err = 0;
	size_t len;

	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return 0;
	for (at = strstr(text, key); at && !err; at = strstr(at, key)) {
		at += strlen(key);
		err = words_add(&l->words, &(__u64){ strtoull(at, NULL, 16) }, 1);
	}
	free(text);
	return err;
}

static bool is_epoll(int dir, const char *fd)
{
	char to[32];
	const ssize_t n = readlinkat(dir, fd, to, sizeof(to) - 1);

	to[n > 0 ? n : 0] = '\0';
	return !strcmp(to, "anon_inode:[eventpoll]");
}

int kernel_words(struct layout *l, pid_t pid)
{
	const struct dirent *e;
	char path[64];
	int err;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/timers", pid);
	err = take_numbers(l, path, "/");
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	if (!d)
		return err;
	while (!err && (e = readdir(d))) {
		if (!is_epoll(dirfd(d), e->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.16s", pid, e->d_name);
		err = take_numbers(l, path, "data:");
	}
	closedir(d);
	return err;
}
