// SPDX-License-Identifier: GPL-2.0-only
/* v4.1: the tracepoint mm_compaction_begin, with the time that it took */
#include <linux/mm.h>
struct compact_control;
#include <trace/events/compaction.h>
#include "probe.h"

PROBE_EXISTS(check_trace_callback_type_mm_compaction_begin);
