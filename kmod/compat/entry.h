/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_ENTRY_H
#define _COMPAT_ENTRY_H

#include <linux/ftrace.h>
#include <linux/ptrace.h>

/*
 * What runs when a function of the kernel is entered, for functions that interrupts call,
 * too: where a kprobe's handler is under way, or just begins or ends, the kernel runs no
 * other one on that CPU, and an interrupt's call would be missed.  ftrace keeps contexts
 * apart, and misses none.
 */
#if defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS)
#define MEMTAP_ENTRIES		1

struct memtap_entry {
	struct ftrace_ops ops;
	unsigned long ip;		/* 0: it is not registered */
	void (*fn)(struct pt_regs *regs);
};

/* May sleep.  -ENOENT: there is no such function; or why it cannot be.  @fn is set. */
int memtap_entry_register(struct memtap_entry *e, const char *name);
/* On return nobody runs @fn, and nobody will.  False: it could not be taken away, and stays. */
bool memtap_entry_unregister(struct memtap_entry *e, const char *name);
#else
#define MEMTAP_ENTRIES		0
#endif

#endif
