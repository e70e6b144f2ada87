// SPDX-License-Identifier: GPL-2.0-only
/* v4.13: cpus_read_lock(), was get_online_cpus() */
#include <linux/cpu.h>
#include "probe.h"

PROBE_EXISTS(cpus_read_lock);
