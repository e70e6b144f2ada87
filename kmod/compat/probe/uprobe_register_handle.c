// SPDX-License-Identifier: GPL-2.0-only
/* v6.12: uprobe_register() takes the semaphore, returns a handle */
#include <linux/fs.h>
#include <linux/uprobes.h>
#include "probe.h"

PROBE_TYPE(uprobe_register,
	   struct uprobe *(struct inode *, loff_t, loff_t,
			   struct uprobe_consumer *));
