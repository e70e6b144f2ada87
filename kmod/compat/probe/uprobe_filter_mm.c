// SPDX-License-Identifier: GPL-2.0-only
/* v6.12: a uprobe filter gets the mm */
#include <linux/fs.h>
#include <linux/uprobes.h>
#include "probe.h"

PROBE_MEMBER_TYPE(struct uprobe_consumer, filter,
		  bool (*)(struct uprobe_consumer *, struct mm_struct *));
