// SPDX-License-Identifier: GPL-2.0-only
/* v4.8: struct perf_raw_record.frag, was .data and .size themselves */
#include <linux/perf_event.h>
#include "probe.h"

PROBE_MEMBER(struct perf_raw_record, frag);
