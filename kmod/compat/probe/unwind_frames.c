// SPDX-License-Identifier: GPL-2.0-only
/* v4.13, x86: the unwinder goes by frame pointers, and has the return address in its state */
#include <linux/sched.h>
#include <asm/unwind.h>
#include "probe.h"

PROBE_MEMBER_TYPE(struct unwind_state, bp, unsigned long *);
PROBE_MEMBER_TYPE(struct unwind_state, ip, unsigned long);
PROBE_EXISTS(unwind_error);
