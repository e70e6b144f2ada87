// SPDX-License-Identifier: GPL-2.0-only
/* v4.9, exported; RHEL 7 too: x86's unwinder, a step at a time */
#include <linux/sched.h>
#include <asm/unwind.h>
#include "probe.h"

/* by tables or frame pointers: the one that guesses has no use for it */
PROBE_EXISTS(((struct unwind_state *)0)->bp);

PROBE_TYPE(&__unwind_start, void (*)(struct unwind_state *, struct task_struct *,
				     struct pt_regs *, unsigned long *));
PROBE_TYPE(&unwind_next_frame, bool (*)(struct unwind_state *));
PROBE_TYPE(&unwind_get_return_address, unsigned long (*)(struct unwind_state *));
