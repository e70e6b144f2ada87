// SPDX-License-Identifier: GPL-2.0-only
/* v4.14, x86: the unwinder goes by ORC tables; its state says where each frame ends */
#include <linux/sched.h>
#include <asm/unwind.h>
#include "probe.h"

PROBE_MEMBER_TYPE(struct unwind_state, sp, unsigned long);
PROBE_MEMBER_TYPE(struct unwind_state, bp, unsigned long);
PROBE_MEMBER_TYPE(struct unwind_state, ip, unsigned long);
PROBE_MEMBER_TYPE(struct unwind_state, full_regs, bool);
PROBE_EXISTS(unwind_error);
