// SPDX-License-Identifier: GPL-2.0-only
/* v5.4: security_locked_down(), and "use of kprobes" is one of its reasons */
#include <linux/security.h>
#include "probe.h"

PROBE_TYPE(security_locked_down, int (enum lockdown_reason));
PROBE_EXISTS(LOCKDOWN_KPROBES);
