// SPDX-License-Identifier: GPL-2.0-only
/* before v5.14: a kprobe is asked about faults in its handlers, each counted as a miss */
#include <linux/kprobes.h>
#include "probe.h"

PROBE_MEMBER(struct kprobe, fault_handler);
