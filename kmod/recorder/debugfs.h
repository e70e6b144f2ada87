/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_DEBUGFS_H
#define _MEMTAP_DEBUGFS_H

struct file_operations;
struct seq_file;

void memtap_debugfs_init(void);
void memtap_debugfs_exit(void);

/* The first line of each file */
void memtap_debugfs_banner(struct seq_file *m);

/* Of stacks/EVENT, i_private: its struct memtap_builtin; without: of summary */
extern const struct file_operations memtap_recorded_fops;

#endif
