// SPDX-License-Identifier: GPL-2.0-only
/* v4.10: CPU hotplug by states */
#include <linux/cpuhotplug.h>
#include "probe.h"

PROBE_EXISTS(CPUHP_AP_ONLINE_DYN);
