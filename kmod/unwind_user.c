// SPDX-License-Identifier: GPL-2.0-only
/*
 * User stacks: finds the registers, hands them to core/fpwalk with a way to
 * read user memory that cannot fault.
 */
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/processor.h>

#include "record.h"

#include "compat/task.h"
#include "compat/uprobe.h"

/*
 * Both check the range and never fault.  x86's own leaves out the check of the
 * destination that hardened kernels make, which for per-CPU memory searches all
 * of vmalloc: two thirds of a stack's cost.
 */
static int read_user(void *ctx, u64 addr, void *buf, u32 len)
{
	const void __user *from = (void __user *)(unsigned long)addr;

#ifdef CONFIG_X86
	return copy_from_user_nmi(buf, from, len) ? -1 : 0;
#else
	return copy_from_user_nofault(buf, from, len) ? -1 : 0;
#endif
}

static u64 fix_return(void *ctx, u64 slot, u64 ip)
{
	return memtap_uretprobe_fix(slot, ip);
}

/* The registers with which current left user mode, or NULL if it never does. */
static struct pt_regs *user_regs(struct pt_regs *regs)
{
	if (regs && user_mode(regs))
		return regs;
	if ((current->flags & PF_KTHREAD) || !current->mm)
		return NULL;
	return task_pt_regs(current);
}

u32 memtap_unwind_user(struct memtap_scratch *sc, struct pt_regs *regs,
		       bool entry, u32 max, u32 *flags)
{
	struct fpwalk w;

	regs = user_regs(regs);
	if (!regs)
		return 0;
	memset(&w, 0, sizeof(w));
	w.ip = instruction_pointer(regs);
	w.sp = user_stack_pointer(regs);
	w.fp = frame_pointer(regs);
	w.us.limit = TASK_SIZE;
	w.word = sizeof(long);
	w.entry = entry;
	w.max = max;
	w.ips = sc->uips;
	w.us.buf = sc->chunk;
	w.us.read = read_user;
	if (memtap_uretprobes_pending())
		w.us.fix = fix_return;
	*flags |= MEMTAP_STACK_USER | MEMTAP_STACK_ENTRY;
	if (memtap_task_compat(current)) {
		w.word = 4;
		w.ip = (u32)w.ip;
		w.sp = (u32)w.sp;
		w.fp = (u32)w.fp;
		*flags |= MEMTAP_STACK_COMPAT;
	}
	fpwalk(&w);
	*flags |= w.flags;
	return w.nr;
}
