// SPDX-License-Identifier: GPL-2.0-only
/* v4.20 to v6.11, RHEL 8: uprobe_register_refctr() takes a semaphore */
#include <linux/fs.h>
#include <linux/uprobes.h>
#include "probe.h"

PROBE_TYPE(uprobe_register_refctr,
	   int (struct inode *, loff_t, loff_t, struct uprobe_consumer *));
