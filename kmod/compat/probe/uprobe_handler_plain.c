// SPDX-License-Identifier: GPL-2.0-only
/* before v6.13: uprobe handlers get the registers */
#include <linux/fs.h>
#include <linux/uprobes.h>
#include "probe.h"

PROBE_MEMBER_TYPE(struct uprobe_consumer, handler,
		  int (*)(struct uprobe_consumer *, struct pt_regs *));
