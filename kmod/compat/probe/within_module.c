// SPDX-License-Identifier: GPL-2.0-only
/* v3.17: within_module() */
#include <linux/module.h>
#include "probe.h"

PROBE_EXISTS(within_module);
