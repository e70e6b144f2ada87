// SPDX-License-Identifier: GPL-2.0-only
/* before v5.1: the flavours of RCU differ, or still have names of their own */
#include <linux/rcupdate.h>
#include "probe.h"

PROBE_EXISTS(synchronize_sched);
