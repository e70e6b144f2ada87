// SPDX-License-Identifier: GPL-2.0-only
/* v4.16: __poll_t, and EPOLLIN and others for poll() */
#include <linux/poll.h>
#include "probe.h"

PROBE_MEMBER_TYPE(struct file_operations, poll,
		  __poll_t (*)(struct file *, struct poll_table_struct *));
