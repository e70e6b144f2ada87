// SPDX-License-Identifier: GPL-2.0-or-later
/* Identify the file that a cached table was built from. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/debug.h"
#include "unwind/int.h"

__u64 unwind_digest(__u64 h, const void *p, size_t len)
{
	const unsigned char *byte = p;
	__u64 word;

	for (; len >= 8; len -= 8, byte += 8) {
		memcpy(&word, byte, 8);
		h = (h ^ word) * 0x100000001b3ULL;
		h ^= h >> 29;		/* else high bits never reach low ones */
	}
	while (len--)
		h = (h ^ *byte++) * 0x100000001b3ULL;
	return h;
}

static __u64 ns(const struct timespec *t)
{
	return (__u64)t->tv_sec * 1000000000 + (__u64)t->tv_nsec;
}

static __u64 digest_debug_file(Elf *elf, __u64 h)
{
	struct stat st;
	__u64 of[2];
	int fd;
	Elf *debug = elf_debug_open(elf, &fd);

	if (fd >= 0 && !fstat(fd, &st)) {
		of[0] = (__u64)st.st_size;
		of[1] = ns(&st.st_mtim);
		h = unwind_digest(h, of, sizeof(of));
	}
	elf_debug_close(debug, fd);
	return h;
}

static void identify_elf(const struct unwind_elf *e, struct unwind_id *id)
{
	const void *note;
	ssize_t len = dwelf_elf_gnu_build_id(e->elf, &note);

	id->layout = UNWIND_DIGEST;
	for (size_t i = 0; i < e->nr_segments; i++)
		id->layout = unwind_digest(id->layout, &e->segments[i],
					   sizeof(e->segments[i]));
	id->layout = unwind_digest(id->layout, &e->entry, sizeof(e->entry));
	id->layout = digest_debug_file(e->elf, id->layout);
	if (len >= 8 && len <= UNWIND_ID_MAX) {
		id->build_id_len = (__u32)len;
		memcpy(id->build_id, note, (size_t)len);
	}
}

/* Does the name that the kernel gives the file lead to it from here, too? */
static bool has_name_here(int fd, const struct stat *st)
{
	char link[32], path[4096];
	struct stat named;
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len <= 0)
		return false;
	path[len] = '\0';
	return path[0] == '/' && !fstatat(AT_FDCWD, path, &named, AT_NO_AUTOMOUNT) &&
	       named.st_dev == st->st_dev && named.st_ino == st->st_ino;
}

/*
 * A build id may be copied.  That of a file which somebody else could have made is
 * not believed: else that file's table would be taken for, say, the C library's.
 * Root of a container may be root here by number: what it makes is not in our mount
 * namespace.
 */
static bool is_trusted(int fd, const struct stat *st)
{
	return (!st->st_uid || st->st_uid == geteuid()) && !(st->st_mode & 0022) &&
	       has_name_here(fd, st);
}

int unwind_id_get(int fd, struct unwind_id *id)
{
	struct unwind_elf e;
	struct stat st;

	memset(id, 0, sizeof(*id));
	if (fstat(fd, &st))
		return -errno;
	if (!unwind_elf_open(fd, &e)) {
		identify_elf(&e, id);
		unwind_elf_close(&e);
	}
	if (id->build_id_len && is_trusted(fd, &st))
		return 0;
	id->build_id_len = 0;
	memset(id->build_id, 0, sizeof(id->build_id));
	id->dev = st.st_dev;
	id->inode = st.st_ino;
	id->size = (__u64)st.st_size;
	id->mtime_ns = ns(&st.st_mtim);
	id->ctime_ns = ns(&st.st_ctim);
	return 0;
}

void unwind_id_name(const struct unwind_id *id, char name[UNWIND_NAME_MAX])
{
	int n = 0;

	if (!id->build_id_len) {
		snprintf(name, UNWIND_NAME_MAX, "inode-%llx-%llx",
			 (unsigned long long)id->dev, (unsigned long long)id->inode);
		return;
	}
	for (__u32 i = 0; i < id->build_id_len; i++)
		n += snprintf(name + n, UNWIND_NAME_MAX - (size_t)n, "%02x", id->build_id[i]);
}
