/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_DEBUGFS_H
#define _MEMTAP_DEBUGFS_H

void memtap_debugfs_init(void);
void memtap_debugfs_exit(void);

#endif
