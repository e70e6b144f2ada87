// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/string.h>

#include "compat/kernel_walk.h"

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
}

bool memtap_is_trampoline(unsigned long ip)
{
	return ip > NOT_TOLD && ip == READ_ONCE(trampoline);
}
#endif
