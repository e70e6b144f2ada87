// SPDX-License-Identifier: GPL-2.0-only
/* v5.5: cgroup_id() is the inode number */
#include <linux/cgroup.h>
#include "probe.h"

PROBE_EXISTS(cgroup_id);
