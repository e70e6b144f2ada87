/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_KERNEL_WALK_H
#define _COMPAT_KERNEL_WALK_H

#include <linux/ptrace.h>
#include <linux/sched.h>

#ifdef HAVE_UNWIND_STATE			/* since v4.9, x86 */
#include <asm/unwind.h>

/*
 * memtap_walk_kernel() - the stack above one of our functions that is still running
 * @frame: its __builtin_frame_address(0): the caller's frame pointer, and behind it
 *	the address in the caller
 *
 * stack_trace_save() begins where it is called, and looks up each of our own frames
 * among the modules' tables: half as much again as the rest of a stack.  So the
 * unwinder is told of the caller's registers, as it would be of an exception's.
 * Returns the number of frames, the caller's first; 0 where that cannot be done.
 * Any context; current must be the one that runs.
 */
static inline u32 memtap_walk_kernel(const unsigned long *frame, unsigned long *ips,
				     u32 max)
{
	struct pt_regs regs = {
		.bp = frame[0],
		.ip = frame[1],
		.sp = (unsigned long)(frame + 2),
		.cs = __KERNEL_CS,
		.ss = __KERNEL_DS,
	};
	struct unwind_state state;
	unsigned long ip;
	u32 n = 0;

	ips[n++] = regs.ip;
	for (unwind_start(&state, current, &regs, NULL); n < max && !unwind_done(&state);
	     unwind_next_frame(&state)) {
		ip = unwind_get_return_address(&state);
		if (!ip)
			break;
		ips[n++] = ip;
	}
	return n > 1 ? n : 0;
}
#else
static inline u32 memtap_walk_kernel(const unsigned long *frame, unsigned long *ips,
				     u32 max)
{
	return 0;
}
#endif

/*
 * Where a kretprobe's return trampoline stands in the place of a return address, the
 * kernel's unwinder knows the true one since v5.15.  Before, it passes on the trampoline,
 * and with ORC tables it ends there: a caller is hidden.
 *
 * memtap_note_trampoline() - learn the trampoline's address, which is not exported
 * @regs: the registers with which a kretprobe's handler is called: before v5.15 they are
 *	in the trampoline.  What they say is believed if that is the name of the place.
 *	Any context.
 *
 * memtap_is_trampoline() - is this address of a kernel stack the trampoline's?
 */
#ifdef HAVE_UNWIND_RECOVERS			/* since v5.15, x86 */
static inline void memtap_note_trampoline(const struct pt_regs *regs)
{
}

static inline bool memtap_is_trampoline(unsigned long ip)
{
	return false;
}
#else
void memtap_note_trampoline(const struct pt_regs *regs);
bool memtap_is_trampoline(unsigned long ip);
#endif

#endif
