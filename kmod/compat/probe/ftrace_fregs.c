// SPDX-License-Identifier: GPL-2.0-only
/* v5.11: ftrace's callbacks are given struct ftrace_regs, was struct pt_regs */
#include <linux/ftrace.h>
#include "probe.h"

PROBE_TYPE(((struct ftrace_ops *)0)->func,
	   void (*)(unsigned long, unsigned long, struct ftrace_ops *, struct ftrace_regs *));
