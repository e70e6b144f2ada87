// SPDX-License-Identifier: GPL-2.0-only
/* v3.15: tracepoint_probe_register() takes a struct tracepoint */
#include <linux/tracepoint.h>
#include "probe.h"

PROBE_TYPE(tracepoint_probe_register,
	   int (struct tracepoint *, void *, void *));
