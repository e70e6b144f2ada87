// SPDX-License-Identifier: GPL-2.0-only
/* v4.5: d_real_inode() */
#include <linux/fs.h>
#include <linux/dcache.h>
#include "probe.h"

PROBE_EXISTS(d_real_inode);
