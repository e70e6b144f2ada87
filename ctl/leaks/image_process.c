// SPDX-License-Identifier: GPL-2.0-or-later
/* A process that runs, as struct image has it. */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "leaks/image.h"

#define PAGE		4096ULL

static int each_map(const struct image *i, int (*fn)(const struct procmap *m, void *ctx),
		    void *ctx)
{
	return procmaps_read(i->pid, fn, ctx);
}

static size_t read_process(const struct image *i, __u64 addr, void *buf, size_t len)
{
	struct iovec to = { buf, len }, from = { (void *)(unsigned long)addr, len };
	ssize_t n = process_vm_readv(i->pid, &to, 1, &from, 1, 0);

	if (n <= 0 && len > PAGE - addr % PAGE) {
		to.iov_len = from.iov_len = (size_t)(PAGE - addr % PAGE);
		n = process_vm_readv(i->pid, &to, 1, &from, 1, 0);
	}
	return n > 0 ? (size_t)n : 0;
}

static int open_mapped(const struct image *i, const struct maps_file *f)
{
	return maps_open(i->pid, f);
}

static bool is_program(const struct image *i, const struct maps_file *f)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", i->pid);
	return !stat(path, &st) && f->inode == st.st_ino;
}

struct image image_of_process(pid_t pid)
{
	return (struct image){ each_map, read_process, open_mapped, is_program, NULL,
				pid };
}
