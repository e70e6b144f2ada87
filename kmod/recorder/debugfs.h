/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_DEBUGFS_H
#define _MEMTAP_DEBUGFS_H

#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "core/version.h"
#include "port/uapi.h"

#include "compat/task.h"

struct memtap_builtin;
struct memtap_session;

void memtap_debugfs_init(void);
void memtap_debugfs_exit(void);

/* shown.c: each read checks the rights of its caller, who may have been passed the descriptor. */
ssize_t memtap_debugfs_read(struct file *file, char __user *buf, size_t size, loff_t *pos);

/* panic.c */
void memtap_panic_init(void);
void memtap_panic_exit(void);

/* The first line of each file */
static inline void memtap_debugfs_banner(struct seq_file *m)
{
	seq_printf(m, "# memtap %s, for people: no ABI (the tool reads %s)\n",
		   MEMTAP_VERSION, MEMTAP_DEVICE);
}

/*
 * shown.c: a name that came from a program, a file or a module: no byte of it acts on a terminal,
 * and none ends the line.  What may do so is shown as '?', as the tool does.  All names in debugfs
 * go through here.
 */
void memtap_show_name(struct seq_file *m, const char *name);
/* The same, with blanks up to @width bytes */
void memtap_show_padded(struct seq_file *m, const char *name, u32 width);

/* "PATH+0xOFFSET", as a line of a stack */
void memtap_show_offset(struct seq_file *m, const char *path, u64 offset);

/* shown.c: a frame of a kernel stack, by name, as a line */
void memtap_show_kernel_frame(struct seq_file *m, u64 ip);
/* The same of a stack of @s that was kept, @space: of whom it is, if it is a user's */
void memtap_show_stack(struct seq_file *m, struct memtap_session *s, u32 id, u32 space);
void memtap_show_account(struct seq_file *m, struct memtap_session *s, u32 event);

/* objects.c: the summary of what is followed; is it @b that is?  @s may be NULL. */
void memtap_show_followed(struct seq_file *m, struct memtap_session *s);
bool memtap_is_followed(const struct memtap_session *s, const struct memtap_builtin *b);

/* What opens a file that @_show prints as a whole: who may not open the device may not. */
#define MEMTAP_SHOW_FOPS(_name, _show)					\
static int _name##_open(struct inode *inode, struct file *file)		\
{									\
	if (!memtap_may(MEMTAP_MAY_COUNT))						\
		return -EPERM;						\
	return single_open(file, _show, inode->i_private);		\
}									\
									\
const struct file_operations _name##_fops = {				\
	.owner = THIS_MODULE,						\
	.open = _name##_open,						\
	.read = memtap_debugfs_read,					\
	.llseek = seq_lseek,						\
	.release = single_release,					\
}

extern const struct file_operations memtap_hooks_fops, memtap_sessions_fops;
/* oom.c */
extern const struct file_operations memtap_oom_fops;
/* objects.c */
extern const struct file_operations memtap_slab_fops, memtap_pages_fops;
/* pressure.c */
extern const struct file_operations memtap_reclaim_fops, memtap_compact_fops,
				    memtap_swap_fops, memtap_pressure_fops;

/* Of stacks/EVENT, i_private: its struct memtap_builtin; without: of summary */
extern const struct file_operations memtap_recorded_fops;

#endif
