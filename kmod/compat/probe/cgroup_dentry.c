// SPDX-License-Identifier: GPL-2.0-only
/* before v3.15: a cgroup has a dentry */
#include <linux/cgroup.h>
#include "probe.h"

PROBE_MEMBER_TYPE(struct cgroup, dentry, struct dentry *);
