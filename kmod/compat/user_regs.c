// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is left of the user's registers once the kernel is entered.
 *
 * Events that interrupt user mode come with all of them.  For the others there
 * are those that the entry saved, and on x86 that differs:
 *
 * Until v4.16 the fast path of system calls saves only what C functions may
 * overwrite: rbx, rbp and r12 to r15 are whatever was in that memory before.
 * With frame pointers the user's rbp can be had: no function of the kernel
 * changes it without keeping it, so that it is where the kernel's chain of frame
 * pointers ends.  (Since v4.10 exceptions, and entries that save everything, leave a
 * mark there: the address of the registers, plus one.)
 *
 * Entries that save everything clear what they saved, so that speculation cannot
 * use it: the chain ends with 0.  Those are all since v4.17, in which system calls
 * are given the registers instead of arguments; stable kernels before took it over
 * from v4.16.  They are told by their code, of which insmod's own call is to say the same,
 * or else by what they do: there no chain ends with the user's.
 *
 * Until v4.0 the stack pointer is not there either, but in a variable of the
 * CPU.  And what an interrupt saved of rbp lies below the stack as soon as the handler is
 * left: what runs then, before the user does, writes over it.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/processor.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

#ifdef HAVE_TASK_STACK_HEADER			/* since v4.11 */
#include <linux/sched/task_stack.h>
#endif

#include "compat/task.h"
#include "compat/user_regs.h"
#include "compat/user_words.h"

#ifdef CONFIG_X86_64

#if defined(CONFIG_FRAME_POINTER) && !defined(CONFIG_ARCH_HAS_SYSCALL_WRAPPER)
#define CHAIN_STEPS	96
#define CLEARED_ENDS	256		/* so many, and no other: they are cleared */
#define ENTRY_CODE	512		/* bytes of it, in which it saves and clears */

static bool on_task_stack(unsigned long at)
{
	unsigned long stack = (unsigned long)task_stack_page(current);

	return at >= stack && at - stack <= THREAD_SIZE - 2 * sizeof(long);
}

/*
 * Where the chain of the kernel's frame pointers leads to: up to @user, or out of
 * the stack.  Behind the marks of exceptions in the kernel it goes on with what they
 * interrupted.  False: nowhere.
 */
static bool chain_end(const struct pt_regs *user, unsigned long *end)
{
	unsigned long fp = (unsigned long)__builtin_frame_address(0), from;
	bool entered = false;
	u32 i;

	for (i = 0; i < CHAIN_STEPS; i++) {
		/* (an interrupt of user mode may never have been on the task's stack) */
		if (fp && fp < TASK_SIZE_MAX) {
			entered = true;
			break;
		}
		if (on_task_stack(fp))
			entered = true;
		else if (entered)
			break;
		from = fp;
		if (fp & (sizeof(long) - 1)) {
			from = fp - 1;
			if ((from & (sizeof(long) - 1)) || from == (unsigned long)user)
				break;
			from += offsetof(struct pt_regs, bp);
		}
		if (copy_from_kernel_nofault(&fp, (void *)from, sizeof(fp)))
			return false;
	}
	*end = fp;
	return entered && i < CHAIN_STEPS;
}

static bool ends_in_user_fp;
static u32 cleared_ends;

/* The chain ends with 0: was that the user's, or cleared by the entry? */
static void kept_by_clearing(struct memtap_uregs *u)
{
	u32 n = READ_ONCE(cleared_ends);

	if (!u->regs->bp || READ_ONCE(ends_in_user_fp)) {
		u->fp = 0;
		u->known = MEMTAP_UREGS_FP;
		if (!u->regs->bp)
			u->known |= MEMTAP_UREGS_BX;
	} else if (n >= CLEARED_ENDS) {
		u->fp = u->regs->bp;
		u->known = MEMTAP_UREGS_FP | MEMTAP_UREGS_BX | MEMTAP_UREGS_ALL;
	} else {
		WRITE_ONCE(cleared_ends, n + 1);
	}
}

static void kept_by_syscall(struct memtap_uregs *u)
{
	unsigned long end;

	u->known = 0;
	if (!chain_end(u->regs, &end))
		return;
	if (!end) {
		kept_by_clearing(u);
		return;
	}
	if (end == (unsigned long)u->regs + 1) {
		u->fp = u->regs->bp;
		u->known = MEMTAP_UREGS_FP | MEMTAP_UREGS_BX | MEMTAP_UREGS_ALL;
		return;
	}
	/* the kernel's own: a new thread that has not yet left it */
	if (end >= TASK_SIZE_MAX)
		return;
	u->fp = end;
	u->known = MEMTAP_UREGS_FP;
	/*
	 * By chance only, if the slow path did not save them all.  Or it was one that
	 * clears, and it is at its end, where the registers are the user's again, or at
	 * its beginning, where they still are, if this is an interrupt: so these are no
	 * proof that it does not.
	 */
	if (end == u->regs->bp)
		u->known |= MEMTAP_UREGS_BX;
	else if (!in_interrupt())
		WRITE_ONCE(ends_in_user_fp, true);
}

static bool saves_less(void)
{
	return true;
}

/* Is there a xor %ebp, %ebp, or %rbp, in the entry of system calls? */
static bool clears_bp(void)
{
	unsigned long entry = kallsyms_lookup_name("entry_SYSCALL_64");	/* since v4.1 */
	u8 insn[2];
	u32 i;

	if (!entry)
		entry = kallsyms_lookup_name("system_call");
	for (i = 0; entry && i < ENTRY_CODE; i++) {
		if (copy_from_kernel_nofault(insn, (void *)(entry + i), sizeof(insn)))
			break;
		if (insn[0] == 0x31 && insn[1] == 0xed)
			return true;
	}
	return false;
}

static void find_fast_path(void)
{
	unsigned long end;

	if (clears_bp() && chain_end(task_pt_regs(current), &end) && !end)
		cleared_ends = CLEARED_ENDS;
}

#ifdef HAVE_OLD_RSP				/* before v4.1 */
/*
 * 32-bit system calls save none of the registers that functions keep.  The chain ends
 * with rbp as it was at the entry, which is the user's, but for AMD's syscall: before that
 * the vdso has put it on the stack.
 */
static void kept_by_compat(struct memtap_uregs *u)
{
	unsigned long end;
	u8 insn[2];
	u32 fp;

	u->known = 0;
	if (u->ip < sizeof(insn) || !memtap_user_bytes(insn, u->ip - 2, sizeof(insn)))
		return;
	if (insn[0] == 0x0f && insn[1] == 0x05) {
		if (!memtap_user_bytes(&fp, u->sp, sizeof(fp)))
			return;
		u->fp = fp;
	} else if (insn[0] == 0xcd && insn[1] == 0x80) {
		if (!chain_end(u->regs, &end) || !end || end >> 32)
			return;
		u->fp = end;
	}
	u->known = MEMTAP_UREGS_FP;
}

/* Interrupts are told by the vector; exceptions save all, for as long as they last. */
#define LEAST_VECTOR	-256L

static void kept_by_interrupt(struct memtap_uregs *u)
{
	const long vector = (long)u->regs->orig_ax;
	unsigned long end;

	if (vector >= LEAST_VECTOR && vector < -1 && chain_end(u->regs, &end) &&
	    end && end < TASK_SIZE_MAX)
		u->fp = end;
}
#endif

#elif !defined(CONFIG_ARCH_HAS_SYSCALL_WRAPPER)

/* Without frame pointers: what it did not save is not to be had. */
static bool fast_path;

static void kept_by_syscall(struct memtap_uregs *u)
{
	u->known = 0;
}

#ifdef HAVE_OLD_RSP				/* before v4.1 */
static void kept_by_compat(struct memtap_uregs *u)
{
	u->known = 0;
}

static void kept_by_interrupt(struct memtap_uregs *u)
{
}
#endif

static bool saves_less(void)
{
	return fast_path;
}

/* The ways around it: v4.6 to the end of it, and before. */
static void find_fast_path(void)
{
	fast_path = kallsyms_lookup_name("stub_ptregs_64") ||
		    kallsyms_lookup_name("stub_clone");
}

#else

static void kept_by_syscall(struct memtap_uregs *u)
{
}

static bool saves_less(void)
{
	return false;
}

static void find_fast_path(void)
{
}

#endif

#ifdef HAVE_OLD_RSP				/* before v4.1 */

static unsigned long __percpu *user_rsp;

void memtap_user_regs_init(void)
{
	find_fast_path();
	user_rsp = (unsigned long __percpu *)kallsyms_lookup_name("old_rsp");
}

/* Interrupts do not save all of them. */
static void kept_by_others(struct memtap_uregs *u)
{
	if (memtap_task_compat(current)) {
		kept_by_compat(u);
		return;
	}
	u->known = MEMTAP_UREGS_FP;
	kept_by_interrupt(u);
}

static void stack_of_syscall(struct memtap_uregs *u)
{
	if (user_rsp)
		u->sp = *per_cpu_ptr(user_rsp, raw_smp_processor_id());
}

#else

void memtap_user_regs_init(void)
{
	find_fast_path();
}

static void kept_by_others(struct memtap_uregs *u)
{
	u->known = MEMTAP_UREGS_FP | MEMTAP_UREGS_BX | MEMTAP_UREGS_ALL;
}

static void stack_of_syscall(struct memtap_uregs *u)
{
}

#endif

/*
 * Did it enter by a 64-bit system call?  An exception that came just behind one looks
 * the same, but there is nothing behind one that could raise it.
 */
static bool by_syscall(const struct memtap_uregs *u)
{
	u8 insn[2];

	return u->ip >= 2 && !memtap_task_compat(current) &&
	       memtap_user_bytes(insn, u->ip - 2, sizeof(insn)) &&
	       insn[0] == 0x0f && insn[1] == 0x05;
}

static void saved_regs(struct memtap_uregs *u)
{
	/* where all that is saved anyway there is nothing to find out */
	if (!saves_less())
		return;
	if (by_syscall(u)) {
		stack_of_syscall(u);
		kept_by_syscall(u);
	} else {
		kept_by_others(u);
	}
}

bool memtap_user_regs(struct memtap_uregs *u, struct pt_regs *event)
{
	bool user = event && user_mode(event);

	if (!user && ((current->flags & PF_KTHREAD) || !current->mm))
		return false;
	u->regs = user ? event : task_pt_regs(current);
	u->ip = u->regs->ip;
	u->sp = u->regs->sp;
	u->fp = u->regs->bp;
	u->bx = u->regs->bx;
	u->known = MEMTAP_UREGS_FP | MEMTAP_UREGS_BX | MEMTAP_UREGS_ALL;
	if (user)
		return true;
	/* a thread of the kernel's own in the process (io_uring): it has been in no mode */
	if (!u->ip && !u->sp)
		return false;
	saved_regs(u);
	return true;
}

static u64 user_address(unsigned long v)
{
	return v < TASK_SIZE_MAX ? v : 0;
}

u32 memtap_task_user_regs(struct task_struct *task, u64 *regs, u32 max)
{
	struct pt_regs r;
	u32 i;

	if (max < 17 || (task->flags & PF_KTHREAD) || memtap_task_compat(task) ||
	    !task_stack_page(task) ||
	    copy_from_kernel_nofault(&r, task_pt_regs(task), sizeof(r)))
		return 0;
	regs[0] = r.ax;
	regs[1] = r.dx;
	regs[2] = r.cx;
	regs[3] = r.bx;
	regs[4] = r.si;
	regs[5] = r.di;
	regs[6] = r.bp;
	regs[7] = r.sp;
	regs[8] = r.r8;
	regs[9] = r.r9;
	regs[10] = r.r10;
	regs[11] = r.r11;
	regs[12] = r.r12;
	regs[13] = r.r13;
	regs[14] = r.r14;
	regs[15] = r.r15;
	regs[16] = r.ip;
	for (i = 0; i < 17; i++)
		regs[i] = user_address(regs[i]);
	return 17;
}

bool memtap_user_regs_replaced(const struct memtap_uregs *u)
{
	int nr = u->regs == task_pt_regs(current) ?
		 syscall_get_nr(current, (struct pt_regs *)u->regs) : -1;

#ifdef __NR_execveat				/* since v3.19 */
	if (nr == __NR_execveat)
		return true;
#endif
	return nr == __NR_execve;
}

#else /* arm64: everything is saved */

void memtap_user_regs_init(void)
{
}

bool memtap_user_regs(struct memtap_uregs *u, struct pt_regs *event)
{
	bool user = event && user_mode(event);

	if (!user && ((current->flags & PF_KTHREAD) || !current->mm))
		return false;
	u->regs = user ? event : task_pt_regs(current);
	u->ip = instruction_pointer((struct pt_regs *)u->regs);
	u->sp = user_stack_pointer((struct pt_regs *)u->regs);
	u->fp = frame_pointer((struct pt_regs *)u->regs);
	u->bx = 0;
	u->known = MEMTAP_UREGS_FP;
	/* a thread of the kernel's own in the process (io_uring): it has been in no mode */
	return user || u->ip || u->sp;
}

u32 memtap_task_user_regs(struct task_struct *task, u64 *regs, u32 max)
{
	return 0;
}

bool memtap_user_regs_replaced(const struct memtap_uregs *u)
{
	return false;
}

#endif
