// SPDX-License-Identifier: GPL-2.0-only
/* v4.11: tasks are walked with linux/sched/signal.h */
#include <linux/sched/signal.h>
#include "probe.h"

PROBE_IS(1);
