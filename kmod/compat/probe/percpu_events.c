// SPDX-License-Identifier: GPL-2.0-only
/* v4.13, RHEL 7: tracepoints of memory for each processor */
#include <linux/percpu.h>
#include <trace/events/percpu.h>
#include "probe.h"

PROBE_EXISTS(check_trace_callback_type_percpu_free_percpu);
