// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/string.h>

#include "compat/kernel_walk.h"

u32 memtap_kernel_code;

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

#ifdef HAVE_UNWIND_ORC
#define FAR	32768UL		/* an ORC table's offsets are less */

/* May the unwinder go by this rbp?  Then it has to lead into the stack. */
static bool leads(struct memtap_kernel_trail *t, unsigned long bp)
{
	return bp - t->base + FAR < THREAD_SIZE + 2 * FAR;
}

/*
 * Where a frame has saved rbp the table says, which we do not read: so it is each word of
 * the frame that is the same.
 */
static void note_bp(struct memtap_kernel_trail *t, unsigned long bp, unsigned long end)
{
	const u32 nr = t->nr_links;
	unsigned long slot;

	for (slot = t->sp; slot < end; slot += sizeof(long))
		if (memtap_stack_word(slot) == bp)
			note_link(t, slot, bp);
	if (t->nr_links == nr && bp != t->bp)
		t->whole = false;
}

static void begin(struct memtap_kernel_trail *t)
{
	u32 off;

	if (!leads(t, t->bp))
		return;
	t->flags |= MEMTAP_TRAIL_FP;
	if (!memtap_is_link(t->base, t->bp, &off))
		t->whole = false;
}

static void step(struct memtap_kernel_trail *t, const struct unwind_state *state)
{
	if (state->regs) {
		note_regs(t, state->regs);
		return;
	}
	/* up the same stack */
	if (state->sp <= t->sp || state->sp - t->base > THREAD_SIZE) {
		t->whole = false;
		return;
	}
	note_ip(t, state->sp - sizeof(long), state->ip);
	if (leads(t, state->bp))
		note_bp(t, state->bp, state->sp);
	t->sp = state->sp;
	t->bp = state->bp;
}
#else
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
#endif

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
static bool is_named_so(unsigned long ip)
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
	WRITE_ONCE(trampoline, is_named_so(ip) ? ip : NOT_TOLD);
	memtap_kernel_code_changed();
}

bool memtap_is_trampoline(unsigned long ip)
{
	return ip > NOT_TOLD && ip == READ_ONCE(trampoline);
}
#endif
