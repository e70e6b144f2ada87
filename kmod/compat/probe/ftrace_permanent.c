// SPDX-License-Identifier: GPL-2.0-only
/* v5.5: FTRACE_OPS_FL_PERMANENT */
#include <linux/ftrace.h>
#include "probe.h"

PROBE_EXISTS(FTRACE_OPS_FL_PERMANENT);
