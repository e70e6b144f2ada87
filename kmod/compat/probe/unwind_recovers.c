// SPDX-License-Identifier: GPL-2.0-only
/* v5.15, x86: the unwinder finds what a return trampoline stands for */
#include <linux/sched.h>
#include <asm/unwind.h>
#include "probe.h"

PROBE_MEMBER(struct unwind_state, kr_cur);
