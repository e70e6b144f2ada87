// SPDX-License-Identifier: GPL-2.0-only
/* Record what a stack walk of the kernel depended on. */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/string.h>

#include "compat/kernel_walk.h"

u32 memtap_kernel_code;

#if MEMTAP_KERNEL_RULES
static void note_step(struct memtap_kernel_trail *t, unsigned long ip, unsigned long sp,
		      unsigned long bp)
{
	struct memtap_kernel_step *s = &t->steps[t->nr];

	if (t->nr == ARRAY_SIZE(t->steps)) {
		t->whole = false;
		return;
	}
	s->ip = ip;
	s->sp = (u32)(sp - t->base);
	s->bp = bp;
	t->nr++;
}

void memtap_trail_begin(struct memtap_kernel_trail *t, const struct pt_regs *regs)
{
	t->base = memtap_task_stack((const unsigned long *)(regs->sp - sizeof(long)));
	t->whole = t->base && !(regs->sp & 7);
	t->to_user = false;
	t->to_begin = false;
	t->nr = 0;
	if (t->whole)
		note_step(t, regs->ip, regs->sp, regs->bp);
}

#ifdef HAVE_UNWIND_ORC
static void callers_registers(const struct unwind_state *state, unsigned long *sp,
			      unsigned long *bp)
{
	*sp = state->sp;
	*bp = state->bp;
}
#else
/* A frame pointer leads to the caller's, and behind that is the return address. */
static void callers_registers(const struct unwind_state *state, unsigned long *sp,
			      unsigned long *bp)
{
	*sp = (unsigned long)(state->bp + 2);
	*bp = memtap_stack_word((unsigned long)state->bp);
}
#endif

void memtap_trail_step(struct memtap_kernel_trail *t, const struct unwind_state *state)
{
	unsigned long sp, bp, up;

	if (!t->whole || unwind_done((struct unwind_state *)state))
		return;
	if (state->regs) {
		/* only where user mode's registers always are */
		t->to_user = state->regs == task_pt_regs(current) && memtap_entered_from_user();
		t->whole = false;
		return;
	}
	/* up the same stack, by an address that stands there: no trampoline is in its place */
	callers_registers(state, &sp, &bp);
	up = sp - t->base;
	if (up <= t->steps[t->nr - 1].sp || up > THREAD_SIZE || (up & 7) ||
	    memtap_stack_word(sp - sizeof(long)) != state->ip ||
	    memtap_is_trampoline(state->ip)) {
		t->whole = false;
		return;
	}
	note_step(t, state->ip, sp, bp);
}

void memtap_trail_end(struct memtap_kernel_trail *t, struct unwind_state *state, bool full)
{
	/* who has no table is walked by guesses */
	if (unwind_error(state))
		t->nr = 0;
	else
		t->to_begin = t->whole && !full && unwind_done(state);
}
#endif

#ifndef HAVE_UNWIND_RECOVERS			/* before v5.15 */
/*
 * In turn: nobody has looked, somebody does, the address, or that a handler's registers
 * are somewhere else on this kernel.  A text address is neither of the small ones.
 */
#define UNKNOWN		0UL
#define LOOKING		1UL
#define NOT_TOLD	2UL
static unsigned long trampoline = UNKNOWN;

/* kretprobe_trampoline, since v5.14 __kretprobe_trampoline; arm64: arch_... */
static bool has_symbol_name(unsigned long ip)
{
	char name[KSYM_SYMBOL_LEN];

	sprint_symbol(name, ip);
	return strnstr(name, "kretprobe_trampoline", sizeof(name));
}

void memtap_note_trampoline(const struct pt_regs *regs)
{
	unsigned long ip = instruction_pointer((struct pt_regs *)regs);

	if (likely(READ_ONCE(trampoline) != UNKNOWN) ||
	    cmpxchg(&trampoline, UNKNOWN, LOOKING) != UNKNOWN)
		return;
	WRITE_ONCE(trampoline, has_symbol_name(ip) ? ip : NOT_TOLD);
	memtap_kernel_code_changed();
}

bool memtap_is_trampoline(unsigned long ip)
{
	return ip > NOT_TOLD && ip == READ_ONCE(trampoline);
}
#endif
