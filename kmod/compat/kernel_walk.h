/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_KERNEL_WALK_H
#define _COMPAT_KERNEL_WALK_H

#include <linux/ptrace.h>
#include <linux/sched.h>
#ifdef HAVE_TASK_STACK_HEADER			/* since v4.11 */
#include <linux/sched/task_stack.h>
#endif
#include <linux/types.h>

#include "port/uapi.h"

/* Frames are learned, and found again: record/kernel_rules.h. */
#if (defined(HAVE_UNWIND_ORC) || defined(HAVE_UNWIND_FRAMES)) && defined(CONFIG_X86_64)
#define MEMTAP_KERNEL_RULES	1
#else
#define MEMTAP_KERNEL_RULES	0
#endif

/* The registers in a frame; @sp from the stack's lowest address. */
struct memtap_kernel_step {
	unsigned long ip, bp;
	u32 sp;
};

/* The frames that the unwinder went by, from the first one on: nothing is hidden in between. */
struct memtap_kernel_trail {
	unsigned long base;		/* of the stack; 0: it is another one */
	u32 nr;
	bool whole;			/* there may be more */
	bool to_user, to_begin;		/* the last one's caller is user mode; there is none */
	struct memtap_kernel_step steps[MEMTAP_DEFAULT_DEPTH];
};

/*
 * Changes when code goes, or the frames of what is left are seen with other eyes: what was
 * kept is no longer true.
 */
extern u32 memtap_kernel_code;
static inline void memtap_kernel_code_changed(void)
{
	WRITE_ONCE(memtap_kernel_code, memtap_kernel_code + 1);
}

/* A word of the stack that is in use; other functions' frames may be poisoned (KASAN). */
#define memtap_stack_word(addr)	READ_ONCE_NOCHECK(*(const unsigned long *)(addr))

/* Is who entered the kernel with it in user mode? */
static inline bool memtap_entered_from_user(void)
{
	struct pt_regs *regs = task_pt_regs(current);

	return user_mode(regs) && (long)instruction_pointer(regs) >= 0;
}

/**
 * memtap_task_stack() - the lowest address of current's own stack
 * @frame: an address in the stack that is in use
 *
 * Return: 0 where that is another one: an interrupt's or an exception's.
 */
static inline unsigned long memtap_task_stack(const unsigned long *frame)
{
	unsigned long base = (unsigned long)task_stack_page(current);

	return (unsigned long)frame - base < THREAD_SIZE ? base : 0;
}

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
 * @trail: filled in; or NULL
 * Returns the number of frames, the caller's first; 0 where that cannot be done.
 * Any context; current must be the one that runs.
 */
#if MEMTAP_KERNEL_RULES
void memtap_trail_begin(struct memtap_kernel_trail *t, const struct pt_regs *regs);
void memtap_trail_step(struct memtap_kernel_trail *t, const struct unwind_state *state);
void memtap_trail_end(struct memtap_kernel_trail *t, struct unwind_state *state, bool full);
#else
static inline void memtap_trail_begin(struct memtap_kernel_trail *t, const struct pt_regs *regs)
{
}

static inline void memtap_trail_step(struct memtap_kernel_trail *t,
				     const struct unwind_state *state)
{
}

static inline void memtap_trail_end(struct memtap_kernel_trail *t, struct unwind_state *state,
				    bool full)
{
}
#endif

static inline u32 memtap_walk_kernel(const unsigned long *frame, unsigned long *ips,
				     u32 max, struct memtap_kernel_trail *trail)
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
	if (trail)
		memtap_trail_begin(trail, &regs);
	for (unwind_start(&state, current, &regs, NULL); n < max && !unwind_done(&state);
	     unwind_next_frame(&state)) {
		if (trail)
			memtap_trail_step(trail, &state);
		ip = unwind_get_return_address(&state);
		if (!ip)
			break;
		ips[n++] = ip;
	}
	if (trail)
		memtap_trail_end(trail, &state, n == max);
	return n > 1 ? n : 0;
}
#else
static inline u32 memtap_walk_kernel(const unsigned long *frame, unsigned long *ips,
				     u32 max, struct memtap_kernel_trail *trail)
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
