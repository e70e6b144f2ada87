// SPDX-License-Identifier: GPL-2.0-only
/* v3.15: cgroup_ino() is the inode number */
#include <linux/cgroup.h>
#include "probe.h"

PROBE_EXISTS(cgroup_ino);
