// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read shared memory through its file.  A page of the file may exist although the process's page
 * table does not have it: reclaim, MADV_DONTNEED and fork() remove entries.  So the file is read
 * where it has data.  Reading through the process would fill each hole with a page of zeros, and
 * read untouched data from disk.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#include "leaks/reach_int.h"
#include "target/maps.h"

#define PAGE		4096ULL
#define WINDOW		(PAGE * SHARED_WINDOW)	/* of a file, asked for at once */

/* ---- who may be asked ---- */

/* Their servers may never answer. */
static const char *const far_away[] = {
	"fuse", "nfs", "cifs", "smb", "9p", "ceph", "afs", "virtiofs", "gfs", "ocfs", "lustre",
};

/* The type of a file system in a line of mountinfo: "ID PARENT MAJ:MIN ... - TYPE ..." */
static bool is_far_line(const char *line, const char *dev)
{
	const char *at = strstr(line, dev), *type = strstr(line, " - ");

	if (!at || !type || at > type)
		return false;
	for (size_t i = 0; i < sizeof(far_away) / sizeof(far_away[0]); i++)
		if (!strncmp(type + 3, far_away[i], strlen(far_away[i])))
			return true;
	return false;
}

static bool is_far(pid_t pid, const struct area *a)
{
	char path[32], dev[32], *text, *rest;
	bool far = false;
	size_t len;

	snprintf(dev, sizeof(dev), " %u:%u ", a->dev_major, a->dev_minor);
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	if (maps_slurp(AT_FDCWD, path, &text, &len))
		return true;
	for (char *line = strtok_r(text, "\n", &rest); line && !far;
	     line = strtok_r(NULL, "\n", &rest))
		far = is_far_line(line, dev);
	free(text);
	return far;
}

/* ---- the file of a mapping ---- */

/* Where its holes can be asked for; elsewhere a page that is read comes from a disk. */
static bool is_memory(int fd)
{
	struct statfs f;

	return !fstatfs(fd, &f) && ((__u32)f.f_type == TMPFS_MAGIC ||
				    (__u32)f.f_type == HUGETLBFS_MAGIC ||
				    (__u32)f.f_type == RAMFS_MAGIC);
}

static void open_file(struct shared_file *f, pid_t pid, const struct area *a)
{
	char path[80];
	struct stat st;

	shared_close(f);
	f->area = a;
	if (is_far(pid, a))
		return;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid,
		 (uint64_t)a->start, (uint64_t)a->end);
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	f->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	f->is_memory = f->fd >= 0 && is_memory(f->fd);
}

void shared_close(struct shared_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct shared_file){ .fd = -1, .resident = f->resident, .swapped = f->swapped };
}

/* ---- what is there of it ---- */

/* Which pages of a file on a disk are in memory; nothing is known: all of them. */
static void ask_window(struct shared_file *f, __u64 at)
{
	const __u64 start = at & ~(WINDOW - 1);
	void *map = mmap(NULL, WINDOW, PROT_READ, MAP_SHARED, f->fd, (off_t)start);

	if (map == MAP_FAILED || mincore(map, WINDOW, f->states))
		memset(f->states, 1, sizeof(f->states));
	if (map != MAP_FAILED)
		munmap(map, WINDOW);
	f->window = start;
	f->known = true;
}

static bool is_cached(struct shared_file *f, __u64 at)
{
	if (!f->known || at - f->window >= WINDOW)
		ask_window(f, at);
	return f->states[(at - f->window) / PAGE] & 1;
}

static size_t cached(struct shared_file *f, __u64 at, size_t len)
{
	__u64 end = at;

	while (end < at + len && is_cached(f, end))
		end = (end | (PAGE - 1)) + 1;
	return end > at + len ? len : (size_t)(end - at);
}

/* As cached(), of a file that has no other place than memory, or swap. */
static size_t written(struct shared_file *f, __u64 at, size_t len)
{
	off_t next;

	if (at < f->hole_end)
		return 0;
	next = lseek(f->fd, (off_t)at, SEEK_DATA);
	if (next < 0 || (__u64)next > at) {
		f->hole_end = next < 0 ? ~0ULL : (__u64)next & ~(PAGE - 1);
		return at < f->hole_end ? 0 : len;
	}
	next = lseek(f->fd, (off_t)at, SEEK_HOLE);
	return next > (off_t)at && (__u64)next - at < len ? (size_t)((__u64)next - at) : len;
}

bool shared_read(struct shared_file *f, pid_t pid, const struct area *a, __u64 addr, void *buf,
		 size_t *len)
{
	const __u64 at = addr - a->start + a->offset;
	size_t there = a->end - addr < *len ? a->end - addr : *len;
	ssize_t n = 0;

	if (f->area != a)
		open_file(f, pid, a);
	if (f->fd < 0)
		return false;
	/* from one end to the other, mostly: a hole that was found holds no longer before it */
	if (at < f->last)
		f->hole_end = 0;
	f->last = at;
	there = f->is_memory ? written(f, at, there) : cached(f, at, there);
	if (there && f->is_memory && f->resident) {
		there = cached(f, at, there);
		f->swapped += there ? 0 : PAGE;
	}
	if (there)
		n = pread(f->fd, buf, there, (off_t)at);
	*len = n > 0 ? (size_t)n : 0;
	return true;
}
