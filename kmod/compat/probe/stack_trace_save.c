// SPDX-License-Identifier: GPL-2.0-only
/* v5.2: stack_trace_save(), was save_stack_trace() */
#include <linux/stacktrace.h>
#include "probe.h"

PROBE_EXISTS(stack_trace_save);
