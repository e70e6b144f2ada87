// SPDX-License-Identifier: GPL-2.0-only
/* before v4.10: CPU hotplug by notifiers */
#include <linux/cpu.h>
#include <linux/notifier.h>
#include "probe.h"

PROBE_TYPE(__register_cpu_notifier, int (struct notifier_block *));
