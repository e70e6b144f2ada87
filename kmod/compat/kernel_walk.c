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

void memtap_trail_step(struct memtap_kernel_trail *t, const struct unwind_state *state)
{
	const unsigned long up = state->sp - t->base;

	if (!t->whole || unwind_done((struct unwind_state *)state))
		return;
	if (state->regs) {
		/* only where user mode's registers always are */
		t->to_user = state->regs == task_pt_regs(current) && memtap_entered_from_user();
		t->whole = false;
		return;
	}
	/* up the same stack, by an address that stands there: no trampoline is in its place */
	if (up <= t->steps[t->nr - 1].sp || up > THREAD_SIZE || (up & 7) ||
	    memtap_stack_word(state->sp - sizeof(long)) != state->ip) {
		t->whole = false;
		return;
	}
	note_step(t, state->ip, state->sp, state->bp);
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

#if MEMTAP_KERNEL_MEMO
static void note_ip(struct memtap_kernel_trail *t, unsigned long slot, unsigned long ip)
{
	struct memtap_kernel_word *w = &t->ips[t->nr];

	/* another address than the word is what a trampoline stood for */
	if (t->nr == MEMTAP_TRAIL || slot - t->base >= THREAD_SIZE || (slot & 7) ||
	    ip != (unsigned long)(long)(s32)ip || !(ip >> 63) ||
	    memtap_stack_word(slot) != ip) {
		t->whole = false;
		return;
	}
	w->off = (u32)(slot - t->base);
	w->is = (u32)ip;
	t->nr++;
}

static void note_link(struct memtap_kernel_trail *t, unsigned long slot, unsigned long to)
{
	struct memtap_kernel_word *w = &t->links[t->nr_links];

	if (t->nr_links == MEMTAP_TRAIL || slot - t->base >= THREAD_SIZE ||
	    !memtap_is_link(t->base, to, &w->is)) {
		t->whole = false;
		return;
	}
	w->off = (u32)(slot - t->base);
	t->nr_links++;
}

/* Only where user mode's registers always are: who looks again looks there. */
static void note_regs(struct memtap_kernel_trail *t, const struct pt_regs *regs)
{
	if (regs != task_pt_regs(current) || !user_mode((struct pt_regs *)regs) ||
	    (long)regs->ip < 0)
		t->whole = false;
	t->flags |= MEMTAP_TRAIL_USER;
}

/* The last frame has its place; beside it, where functions realign stacks, words are read. */
#define LAST_WORDS	8

static void begin(struct memtap_kernel_trail *t)
{
	u32 off;

	t->flags |= MEMTAP_TRAIL_FP;
	if (!memtap_is_link(t->base, t->bp, &off))
		t->whole = false;
	t->sp = 0;
}

static void step(struct memtap_kernel_trail *t, const struct unwind_state *state)
{
	unsigned long *last = (unsigned long *)task_pt_regs(current) - 2;

	if (state->regs) {
		/* behind the last frame because of its place, or led there by a mark */
		if (t->sp && t->sp != (unsigned long)last)
			note_link(t, t->sp, memtap_stack_word(t->sp));
		note_regs(t, state->regs);
		return;
	}
	if (!state->bp || (state->bp != last && state->bp + LAST_WORDS > last)) {
		t->whole = false;
		return;
	}
	if (t->sp)		/* the frame before leads here */
		note_link(t, t->sp, (unsigned long)state->bp);
	else if ((unsigned long)state->bp != t->bp)
		t->whole = false;
	note_ip(t, (unsigned long)(state->bp + 1), state->ip);
	t->sp = (unsigned long)state->bp;
}
void memtap_trail_begin(struct memtap_kernel_trail *t, const struct pt_regs *regs)
{
	t->nr = 0;
	t->nr_links = 0;
	t->flags = 0;
	t->whole = t->base && regs->sp - t->base < THREAD_SIZE && !(regs->sp & 7);
	t->sp = regs->sp;
	t->bp = regs->bp;
	if (t->whole)
		begin(t);
}

void memtap_trail_step(struct memtap_kernel_trail *t, const struct unwind_state *state)
{
	if (t->whole && !unwind_done((struct unwind_state *)state))
		step(t, state);
}

void memtap_trail_end(struct memtap_kernel_trail *t, struct unwind_state *state, bool full)
{
	/* who has no table is walked by guesses */
	if (unwind_error(state) || !(full || unwind_done(state) || (t->flags & MEMTAP_TRAIL_USER)))
		t->whole = false;
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
