// SPDX-License-Identifier: GPL-2.0-only
/* before v6.12: a uprobe filter gets the occasion and the mm */
#include <linux/fs.h>
#include <linux/uprobes.h>
#include "probe.h"

PROBE_MEMBER_TYPE(struct uprobe_consumer, filter,
		  bool (*)(struct uprobe_consumer *, enum uprobe_filter_ctx,
			   struct mm_struct *));
