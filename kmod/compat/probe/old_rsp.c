// SPDX-License-Identifier: GPL-2.0-only
/* before v4.1: a system call leaves the user's stack pointer in a variable */
#include <linux/percpu.h>
#include <linux/sched.h>
#include <asm/processor.h>
#include "probe.h"

PROBE_EXISTS(old_rsp);
