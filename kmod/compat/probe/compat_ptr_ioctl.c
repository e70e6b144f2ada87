// SPDX-License-Identifier: GPL-2.0-only
/* v5.5: compat_ptr_ioctl() */
#include <linux/fs.h>
#include "probe.h"

long (*probe_exists)(struct file *, unsigned int, unsigned long) =
	compat_ptr_ioctl;
