/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_FILE_H
#define _COMPAT_FILE_H

#include <linux/dcache.h>
#include <linux/fs.h>

/*
 * Where the content of an open file is: below an overlay, the inode that is mapped and
 * probed.  Before v4.5 that is the one which was opened.
 */
static inline struct inode *memtap_file_inode(const struct file *file)
{
#ifdef HAVE_D_REAL_INODE			/* since v4.5 */
	return d_real_inode(file->f_path.dentry);
#else
	return file_inode((struct file *)file);
#endif
}

/*
 * Who reads from a server that does not answer waits for ever; and who ends the
 * session, for him.  A disk, or memory, answers: may the file be waited for?
 */
bool memtap_file_answers(const struct file *file);

/* Is it a file of proc or of cgroups, and not of what somebody mounted there? */
bool memtap_is_kernels_text(const struct file *file);
/* A part of such a file; as kernel_read(), or -EOPNOTSUPP.  May sleep. */
ssize_t memtap_read_text(struct file *file, char *buf, size_t size, loff_t *pos);

static inline const struct inode *memtap_dentry_inode(const struct dentry *dentry)
{
	return dentry->d_inode;
}

#endif
