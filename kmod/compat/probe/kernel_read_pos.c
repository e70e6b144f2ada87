// SPDX-License-Identifier: GPL-2.0-only
/* v4.14: kernel_read() moves a position, as read() does */
#include <linux/fs.h>
#include "probe.h"

PROBE_TYPE(kernel_read, ssize_t (struct file *, void *, size_t, loff_t *));
