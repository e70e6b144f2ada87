/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_ARCH_H
#define _MEMTAP_ARCH_H

/*
 * Where the calling conventions keep what we read.  The only place that knows
 * registers by name, unwinding apart.
 */
#include <linux/ptrace.h>

#if defined(CONFIG_X86_64)

#include <linux/elf-em.h>
#define MEMTAP_MACHINE	EM_X86_64

/* Argument @n (0 .. 5) of a kernel function, at its first instruction. */
static inline unsigned long memtap_karg(const struct pt_regs *regs, u32 n)
{
	switch (n) {
	case 0: return regs->di;
	case 1: return regs->si;
	case 2: return regs->dx;
	case 3: return regs->cx;
	case 4: return regs->r8;
	default: return regs->r9;
	}
}

/* Where argument @n (6 ..) of a kernel function is in memory, at its first instruction. */
static inline unsigned long memtap_karg_far(const struct pt_regs *regs, u32 n)
{
	return regs->sp + (n - 5) * sizeof(long);
}

/* Where the address is that a kernel function returns to, at its first instruction. */
static inline const void *memtap_kreturn_at(const struct pt_regs *regs)
{
	return (const void *)regs->sp;
}

/* Where in struct pt_regs argument @n (0 .. 5) of a 64-bit function is. */
static inline u32 memtap_arg_place(u32 n)
{
	static const u16 place[] = {
		offsetof(struct pt_regs, di), offsetof(struct pt_regs, si),
		offsetof(struct pt_regs, dx), offsetof(struct pt_regs, cx),
		offsetof(struct pt_regs, r8), offsetof(struct pt_regs, r9),
	};

	return place[n];
}

/* Argument @n (0 .. 5) of a system call, from the user's registers. */
static inline unsigned long memtap_sysarg(const struct pt_regs *regs, u32 n)
{
	switch (n) {
	case 0: return regs->di;
	case 1: return regs->si;
	case 2: return regs->dx;
	case 3: return regs->r10;
	case 4: return regs->r8;
	default: return regs->r9;
	}
}

/* The same of a 32-bit system call. */
static inline unsigned long memtap_sysarg32(const struct pt_regs *regs, u32 n)
{
	switch (n) {
	case 0: return (u32)regs->bx;
	case 1: return (u32)regs->cx;
	case 2: return (u32)regs->dx;
	case 3: return (u32)regs->si;
	case 4: return (u32)regs->di;
	default: return (u32)regs->bp;
	}
}

/*
 * The stack pointer that a function had at its entry, seen from just behind its
 * return: the return address, @word bytes, has been popped.
 */
static inline unsigned long memtap_entry_sp(const struct pt_regs *regs, u32 word)
{
	return regs->sp - word;
}

static inline void memtap_move_stack(struct pt_regs *regs, u32 up)
{
	regs->sp += up;
}

/* A register by DWARF's number, 0 .. 15.  0: there is such a one. */
static inline int memtap_user_reg(const struct pt_regs *regs, u32 n, u64 *v)
{
	switch (n) {
	case 0: *v = regs->ax; return 0;
	case 1: *v = regs->dx; return 0;
	case 2: *v = regs->cx; return 0;
	case 3: *v = regs->bx; return 0;
	case 4: *v = regs->si; return 0;
	case 5: *v = regs->di; return 0;
	case 6: *v = regs->bp; return 0;
	case 7: *v = regs->sp; return 0;
	case 8: *v = regs->r8; return 0;
	case 9: *v = regs->r9; return 0;
	case 10: *v = regs->r10; return 0;
	case 11: *v = regs->r11; return 0;
	case 12: *v = regs->r12; return 0;
	case 13: *v = regs->r13; return 0;
	case 14: *v = regs->r14; return 0;
	case 15: *v = regs->r15; return 0;
	default: return -1;
	}
}

#elif defined(CONFIG_ARM64)

#include <linux/elf-em.h>
#define MEMTAP_MACHINE	EM_AARCH64

static inline unsigned long memtap_karg(const struct pt_regs *regs, u32 n)
{
	return regs->regs[n];
}

/* Arguments 6 and 7 are in registers, too. */
static inline unsigned long memtap_karg_far(const struct pt_regs *regs, u32 n)
{
	return (unsigned long)&regs->regs[n];
}

static inline const void *memtap_kreturn_at(const struct pt_regs *regs)
{
	return &regs->regs[30];
}

static inline u32 memtap_arg_place(u32 n)
{
	return offsetof(struct pt_regs, regs[n]);
}

static inline unsigned long memtap_sysarg(const struct pt_regs *regs, u32 n)
{
	return n ? regs->regs[n] : regs->orig_x0;
}

static inline unsigned long memtap_sysarg32(const struct pt_regs *regs, u32 n)
{
	return (u32)memtap_sysarg(regs, n);
}

static inline unsigned long memtap_entry_sp(const struct pt_regs *regs, u32 word)
{
	return regs->sp;
}

static inline void memtap_move_stack(struct pt_regs *regs, u32 up)
{
	regs->sp += up;
}

static inline int memtap_user_reg(const struct pt_regs *regs, u32 n, u64 *v)
{
	return -1;
}

#else
#error "memtap knows x86-64 and arm64"
#endif

#endif
