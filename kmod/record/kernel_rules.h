/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_KERNEL_RULES_H
#define _MEMTAP_KERNEL_RULES_H

#include <linux/types.h>

#include "compat/kernel_walk.h"

/*
 * Kernel stacks without the kernel's unwinder, where it went by all of their frames before: what
 * it did is learned, see core/framerules.h.  For kernels that go by ORC tables or frame pointers.
 */

/* As memtap_walk_kernel(); 0: not all of it is known. */
u32 memtap_walk_known(const unsigned long *frame, unsigned long *ips, u32 max);

/* What @trail says; @code: memtap_kernel_code before that walk. */
void memtap_learn_frames(const struct memtap_kernel_trail *trail, u32 code);

#endif
