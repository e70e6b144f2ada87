// SPDX-License-Identifier: GPL-2.0-only
/* before v6.12: uprobe_unregister() names what was registered */
#include <linux/fs.h>
#include <linux/uprobes.h>
#include "probe.h"

PROBE_TYPE(uprobe_unregister,
	   void (struct inode *, loff_t, struct uprobe_consumer *));
