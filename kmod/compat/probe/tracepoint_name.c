// SPDX-License-Identifier: GPL-2.0-only
/* before v3.15: tracepoint_probe_register() takes a name */
#include <linux/tracepoint.h>
#include "probe.h"

PROBE_TYPE(tracepoint_probe_register, int (const char *, void *, void *));
