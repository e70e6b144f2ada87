/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_CHARDEV_H
#define _MEMTAP_CHARDEV_H

int memtap_chardev_init(void);
void memtap_chardev_exit(void);

#endif
