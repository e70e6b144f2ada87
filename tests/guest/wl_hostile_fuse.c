// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wl_hostile_fuse DIR [KIB]: a file system at DIR with one file, "file", which looks like
 * a program of 1 MiB and answers no read beyond its first KIB KiB (none at all by
 * default).  Says "ready"; until SIGTERM.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define SIZE	(1U << 20)
#define FILE_ID	2

static int dev;
static uint64_t answered;
static const char *dir;

static void on_term(int sig __attribute__((unused)))
{
	umount2(dir, MNT_DETACH);
	_exit(0);
}

static void reply(uint64_t unique, int error, const void *body, size_t len)
{
	struct fuse_out_header out = { .len = sizeof(out) + len, .error = error,
				       .unique = unique };
	struct iovec v[2] = { { &out, sizeof(out) }, { (void *)body, len } };

	if (writev(dev, v, len ? 2 : 1) < 0 && errno != ENOENT)
		perror("wl_hostile_fuse: reply");
}

static void attributes(struct fuse_attr *a, uint64_t id)
{
	memset(a, 0, sizeof(*a));
	a->ino = id;
	a->mode = id == FILE_ID ? S_IFREG | 0755 : S_IFDIR | 0755;
	a->size = id == FILE_ID ? SIZE : 4096;
	a->nlink = 1;
	a->blksize = 4096;
}

static void look_up(const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out e = { .nodeid = FILE_ID, .attr_valid = 1000, .entry_valid = 1000 };

	attributes(&e.attr, FILE_ID);
	if (strcmp(name, "file"))
		reply(in->unique, -ENOENT, NULL, 0);
	else
		reply(in->unique, 0, &e, sizeof(e));
}

/* The header of an ELF file without anything in it. */
static void read_some(const struct fuse_in_header *in, const struct fuse_read_in *r)
{
	static const char elf[64] = "\177ELF\2\1\1";
	static char buf[SIZE];

	if (r->offset + r->size > answered)
		return;
	memset(buf, 0, sizeof(buf));
	if (!r->offset)
		memcpy(buf, elf, sizeof(elf));
	reply(in->unique, 0, buf, r->size);
}

static void serve(const struct fuse_in_header *in, const void *arg)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION, .minor = 31,
				      .max_write = 4096 };
	struct fuse_attr_out attr = { .attr_valid = 1000 };
	/* else each open() waits for the pages that others have asked for */
	struct fuse_open_out opened = { .open_flags = FOPEN_KEEP_CACHE };

	switch (in->opcode) {
	case FUSE_INIT:
		reply(in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		look_up(in, arg);
		break;
	case FUSE_GETATTR:
		attributes(&attr.attr, in->nodeid);
		reply(in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		reply(in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		read_some(in, arg);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_ACCESS:
		reply(in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(in->unique, -ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static char buf[1 << 17] __attribute__((aligned(8)));
	char options[128];

	if (argc < 2)
		return 2;
	dir = argv[1];
	answered = argc > 2 ? strtoull(argv[2], NULL, 10) << 10 : 0;
	dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", dev);
	if (dev < 0 || mount("wl_hostile", dir, "fuse", 0, options)) {
		perror("wl_hostile_fuse");
		return 1;
	}
	signal(SIGTERM, on_term);
	puts("ready");
	fflush(stdout);
	while (read(dev, buf, sizeof(buf)) > 0)
		serve((const void *)buf, buf + sizeof(struct fuse_in_header));
	return 0;
}
