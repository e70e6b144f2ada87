/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_UPROBE_H
#define _COMPAT_UPROBE_H

#include <linux/sched.h>
#include <linux/types.h>
#include <linux/uprobes.h>

struct file;
struct inode;

/**
 * struct memtap_uprobe - a probe on a place in a file
 * @inode:	the file; the caller holds a reference, and the mount, until after
 *		unregistering
 * @offset:	in the file
 * @ref_ctr:	offset of a semaphore to raise, or 0
 * @entry:	when the place is reached, or NULL
 * @ret:	when the function that begins there returns, or NULL; what makes
 *		the kernel replace return addresses
 * @filter:	is the probe wanted in this address space?  NULL: in all
 * @stepped:	memtap_uprobe_stepped() of it
 *
 * The handlers run in the task that hit, may sleep, and must not register or
 * unregister.  A filter decides where the breakpoint is put; a child of such a
 * process inherits it, so that handlers have to look at whom they run for.
 */
struct memtap_uprobe {
	struct uprobe_consumer uc;
	struct uprobe *handle;
	struct inode *inode;
	loff_t offset;
	loff_t ref_ctr;
	int (*entry)(struct memtap_uprobe *up, struct pt_regs *regs);
	int (*ret)(struct memtap_uprobe *up, unsigned long func,
		   struct pt_regs *regs);
	bool (*filter)(struct memtap_uprobe *up, struct mm_struct *mm);
	bool stepped;
};

/* Can this kernel raise semaphores?  If not, ref_ctr is -EOPNOTSUPP. */
#if defined(HAVE_UPROBE_REGISTER_HANDLE) || defined(HAVE_UPROBE_REGISTER_REFCTR)
#define memtap_uprobe_has_refctr()	1
#else
#define memtap_uprobe_has_refctr()	0
#endif

/* Does a probe on "push reg" cost no single step? */
#ifdef HAVE_UPROBE_PUSH
#define memtap_uprobe_emulates_push()	1
#else
#define memtap_uprobe_emulates_push()	0
#endif

/* Does the trampoline of return probes call the kernel by a system call? */
#ifdef HAVE_SYS_URETPROBE
#define memtap_uretprobe_is_syscall()	1
#else
#define memtap_uretprobe_is_syscall()	0
#endif

int memtap_uprobe_register(struct memtap_uprobe *up);

/*
 * Takes the probe away; before what its handlers use is freed, and after any
 * number of them, memtap_uprobe_sync(): from then on no handler runs and none will.
 */
void memtap_uprobe_unregister(struct memtap_uprobe *up);
void memtap_uprobe_sync(void);

/*
 * Before v5.3, and in stable kernels before they took that over, the kernel takes a 32-bit
 * program that hits a probe for a 64-bit one: where it puts a return address on its stack,
 * for a probe on a return, or in place of a call, or of a push where it does these itself, it
 * writes eight bytes instead of four, and the program crashes.  init() tries it.
 */
void memtap_uprobe_init(void);
bool memtap_uprobe_knows_32(void);
/* May it be put at @offset of @file?  May sleep. */
bool memtap_uprobe_harmless(struct file *file, loff_t offset, bool ret);

/*
 * From v4.12 until 2026 the kernel places the page in which it steps instructions, and to
 * which functions return, above 4 GiB if the highest page of a 32-bit program is taken: the
 * stack has it where addresses are not made by chance.  The program then hits the breakpoint
 * for ever.
 */
#if defined(HAVE_MM_COMPAT_BASE) && !defined(HAVE_XOL_AREA_PLACE)
#define MEMTAP_UPROBE_MISPLACED	1
/* Does a probe at @offset of @file need that page?  May sleep. */
bool memtap_uprobe_stepped(struct file *file, loff_t offset, bool ret);
/* Under @mm's lock, as filters are called: may @up be put there? */
bool memtap_uprobe_fits(const struct memtap_uprobe *up, struct mm_struct *mm);
#else
#define MEMTAP_UPROBE_MISPLACED	0
static inline bool memtap_uprobe_stepped(struct file *file, loff_t offset, bool ret)
{
	return true;
}

static inline bool memtap_uprobe_fits(const struct memtap_uprobe *up, struct mm_struct *mm)
{
	return true;
}
#endif

/* False where the kernel would take a probe on this file and never hit it. */
bool memtap_inode_uprobeable(const struct inode *inode);

/* Are return addresses on current's stack replaced by the kernel's trampoline? */
static inline bool memtap_uretprobes_pending(void)
{
	return current->utask && current->utask->return_instances;
}

/**
 * memtap_uretprobe_fix() - the true return address for one of current's frames
 * @slot:	where on the user stack it was found
 * @ip:		what was found there
 *
 * For probes at entries and other events; any context.  Not for handlers of
 * returns before v6.12: the kernel has not yet taken the returning call off its
 * list there, and for tail calls it has freed what the list leads to.
 *
 * Return: @ip if it is no trampoline, the address that the trampoline stands
 * for, or 0 if that is not known.
 */
u64 memtap_uretprobe_fix(u64 slot, u64 ip);

/*
 * Puts the true return addresses back to where the trampoline's is, on the whole
 * of current's stack: those returns will not be reported.  For handlers of
 * entries; may sleep.
 */
void memtap_uretprobe_restore(void);

#endif
