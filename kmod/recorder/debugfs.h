/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_DEBUGFS_H
#define _MEMTAP_DEBUGFS_H

#include <linux/seq_file.h>

#include "core/version.h"
#include "port/uapi.h"

struct file_operations;

void memtap_debugfs_init(void);
void memtap_debugfs_exit(void);

/* The first line of each file */
static inline void memtap_debugfs_banner(struct seq_file *m)
{
	seq_printf(m, "# memtap %s, for people: no ABI (the tool reads %s)\n",
		   MEMTAP_VERSION, MEMTAP_DEVICE);
}

/* Of stacks/EVENT, i_private: its struct memtap_builtin; without: of summary */
extern const struct file_operations memtap_recorded_fops;

#endif
