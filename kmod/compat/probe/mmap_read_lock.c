// SPDX-License-Identifier: GPL-2.0-only
/* v5.8: mmap_read_lock() and others, was mmap_sem */
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include "probe.h"

PROBE_EXISTS(mmap_read_lock);
