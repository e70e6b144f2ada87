/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_USER_REGS_H
#define _COMPAT_USER_REGS_H

#include <linux/types.h>

struct pt_regs;
struct task_struct;

#define MEMTAP_UREGS_FP		(1U << 0)	/* known: fp, */
#define MEMTAP_UREGS_BX		(1U << 1)	/* bx, */
#define MEMTAP_UREGS_ALL	(1U << 2)	/* and everything else in regs */

/* The registers with which a task left user mode, as far as they are known. */
struct memtap_uregs {
	u64 ip, sp, fp, bx;
	const struct pt_regs *regs;
	u32 known;			/* MEMTAP_UREGS_* */
};

/**
 * memtap_user_regs() - the user registers of current
 * @event:	what the event's hook was given: used if it is from user mode
 *
 * The one place that knows what each kernel leaves of them.  Return: false where
 * current has none (a kernel thread).  Any context.
 */
bool memtap_user_regs(struct memtap_uregs *u, struct pt_regs *event);

/**
 * memtap_task_user_regs() - the registers with which a task left user mode last
 * @regs:	by DWARF's numbers; 0 where it is no address of user mode
 *
 * @task does not go away; what it has as a stack may, or be changed meanwhile.  Kernels
 * before v4.17 may not have saved rbx, rbp and r12 to r15 at a system call: then these
 * are anything.  Return: how many there are, 0: none.
 */
u32 memtap_task_user_regs(struct task_struct *task, u64 *regs, u32 max);

/* Is current in execve(), past the point where it still has a stack to show? */
bool memtap_user_regs_replaced(const struct memtap_uregs *u);

void memtap_user_regs_init(void);

#endif
