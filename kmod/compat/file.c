// SPDX-License-Identifier: GPL-2.0-only
/* Find the inode that holds the content of a file. */
#include <linux/fs.h>
#include <linux/kernel.h>

#include "compat/file.h"

#define FUSE_MAGIC	0x65735546

bool memtap_file_answers(const struct file *file)
{
	static const u32 magics[] = {
		0x01021994,		/* tmpfs */
		0x858458f6,		/* ramfs */
		0x2fc12fc1,		/* zfs */
	};
	const struct inode *inode = memtap_file_inode(file);
	const struct super_block *sb;
	u32 i;

	/* TABLE takes what somebody opened as he liked; a layer of overlayfs may be FUSE */
	if (!inode || !(file->f_mode & FMODE_READ) || !S_ISREG(inode->i_mode))
		return false;
	sb = inode->i_sb;
	for (i = 0; i < ARRAY_SIZE(magics); i++)
		if (sb->s_magic == magics[i])
			return true;
	return (sb->s_type->fs_flags & FS_REQUIRES_DEV) && sb->s_magic != FUSE_MAGIC;
}

bool memtap_is_kernels_text(const struct file *file)
{
	static const u32 magics[] = {
		0x9fa0,			/* proc */
		0x27e0eb,		/* cgroup */
		0x63677270,		/* cgroup2 */
	};
	const struct inode *inode = memtap_file_inode(file);
	u32 i;

	for (i = 0; inode && i < ARRAY_SIZE(magics); i++)
		if (inode->i_sb->s_magic == magics[i])
			return S_ISREG(inode->i_mode);
	return false;
}

ssize_t memtap_read_text(struct file *file, char *buf, size_t size, loff_t *pos)
{
#ifndef HAVE_KERNEL_DS				/* since v5.10 that would be warned of */
	if (!file->f_op->read_iter || file->f_op->read)
		return -EOPNOTSUPP;
#endif
	return kernel_read(file, buf, size, pos);
}
