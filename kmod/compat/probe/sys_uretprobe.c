// SPDX-License-Identifier: GPL-2.0-only
/* v6.11: on x86 the trampoline of return probes is a system call */
#include <linux/unistd.h>
#include "probe.h"

PROBE_IS(__NR_uretprobe > 0);
