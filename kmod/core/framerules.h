/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CORE_FRAMERULES_H
#define _CORE_FRAMERULES_H

#include "port.h"

/*
 * How large the frame is in which a call returns to an address of the kernel's code, and where in
 * it rbp is saved.  By ORC tables that depends on the address alone; here it is learned from
 * what the kernel's own unwinder did, and looking it up takes a twentieth of what that takes.
 * Kernels that unwind by frame pointers are the simple case: in each frame rbp leads to the end.
 *
 * Where rbp led to the frame's end, as a frame pointer does, that may be the rule, and not the
 * frame's size: both have to say the same, until frames of several sizes were seen.  So it is
 * with the function that moves the stack by a number made by chance at each system call
 * (CONFIG_RANDOMIZE_KSTACK_OFFSET).
 *
 * A walk is taken only if it comes to an end that was seen, in the same place of the stack.
 *
 * One table for all CPUs, who read and write without locks: an entry is one word.
 */
#define FRAMERULES_BITS		12

struct framerules {
	u64 at[1 << FRAMERULES_BITS];
};

/* The registers in a frame; @sp from the stack's lowest address. */
struct framerules_step {
	unsigned long ip, bp;
	u32 sp;
};

enum framerules_end {
	FRAMERULES_UNKNOWN,		/* of the last frame nothing is learned */
	FRAMERULES_KERNEL,		/* a thread of the kernel begins there */
	FRAMERULES_USER,		/* user mode's registers are behind it */
};

/*
 * The kernel's unwinder went by these @nr frames of the stack at @base; the first is where it was
 * told to begin, which it looks up in another way.
 */
void framerules_learn(struct framerules *r, unsigned long base,
		      const struct framerules_step *steps, u32 nr, enum framerules_end end);

/* Forget all: code is gone. */
void framerules_clear(struct framerules *r);

/**
 * framerules_walk() - the addresses of a stack
 * @base:	its lowest address
 * @size:	of the stack
 * @from:	where it begins
 * @ips:	filled in
 * @max:	room in @ips
 * @user:	out: it ends at user mode's registers
 *
 * Return: how many, or 0: not all is known, walk it in another way.
 */
u32 framerules_walk(const struct framerules *r, unsigned long base, u32 size,
		    const struct framerules_step *from, unsigned long *ips, u32 max, int *user);

#endif
