// SPDX-License-Identifier: GPL-2.0-only
/* before v5.10: kernel_read() of a file that only has read() */
#include <linux/uaccess.h>
#include "probe.h"

PROBE_EXISTS(KERNEL_DS);
