// SPDX-License-Identifier: GPL-2.0-only
/* Register probes in user space with the interface of this kernel. */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "compat/task.h"
#include "compat/uprobe.h"
#include "compat/user_copy.h"
#include "compat/user_words.h"

#if defined(HAVE_UPROBE_HANDLER_DATA)		/* since v6.13 */
#define UC_DATA		, __u64 *data
#elif defined(HAVE_UPROBE_HANDLER_PLAIN)	/* before v6.13 */
#define UC_DATA
#else
#error "uprobe handlers: unknown prototype, add a probe in compat/probe"
#endif

#if defined(HAVE_UPROBE_FILTER_MM)		/* since v6.12 */
#define UC_OCCASION
#elif defined(HAVE_UPROBE_FILTER_CTX)		/* before v6.12 */
#define UC_OCCASION	, enum uprobe_filter_ctx occasion
#else
#error "uprobe filters: unknown prototype, add a probe in compat/probe"
#endif

#define to_uprobe(uc)	container_of(uc, struct memtap_uprobe, uc)

static int on_entry(struct uprobe_consumer *uc, struct pt_regs *regs UC_DATA)
{
	struct memtap_uprobe *up = to_uprobe(uc);

	return up->entry(up, regs);
}

static int on_return(struct uprobe_consumer *uc, unsigned long func,
		     struct pt_regs *regs UC_DATA)
{
	struct memtap_uprobe *up = to_uprobe(uc);

	return up->ret(up, func, regs);
}

static bool on_filter(struct uprobe_consumer *uc UC_OCCASION,
		      struct mm_struct *mm)
{
	struct memtap_uprobe *up = to_uprobe(uc);

	return up->filter(up, mm);
}

#if defined(HAVE_UPROBE_REGISTER_HANDLE)	/* since v6.12 */
static int do_register(struct memtap_uprobe *up)
{
	up->handle = uprobe_register(up->inode, up->offset, up->ref_ctr,
				     &up->uc);
	return PTR_ERR_OR_ZERO(up->handle);
}

static void do_unregister(struct memtap_uprobe *up)
{
	uprobe_unregister_nosync(up->handle, &up->uc);
}

void memtap_uprobe_sync(void)
{
	uprobe_unregister_sync();
}
#elif defined(HAVE_UPROBE_REGISTER_INODE)	/* before v6.12 */
static int do_register(struct memtap_uprobe *up)
{
#ifdef HAVE_UPROBE_REGISTER_REFCTR		/* since v4.20, RHEL 8 */
	if (up->ref_ctr)
		return uprobe_register_refctr(up->inode, up->offset,
					      up->ref_ctr, &up->uc);
#endif
	return uprobe_register(up->inode, up->offset, &up->uc);
}

static void do_unregister(struct memtap_uprobe *up)
{
	uprobe_unregister(up->inode, up->offset, &up->uc);
}

void memtap_uprobe_sync(void)
{
}
#else
#error "uprobe_register(): unknown prototype, add a probe in compat/probe"
#endif

/*
 * In a kernel thread: a breakpoint cannot be put or taken away by a task that is
 * being killed, and then would stay for good.
 */
struct uprobe_job {
	struct work_struct work;
	struct memtap_uprobe *up;
	bool add;
	int err;
};

static void do_job(struct work_struct *work)
{
	struct uprobe_job *job = container_of(work, struct uprobe_job, work);

	if (job->add)
		job->err = do_register(job->up);
	else
		do_unregister(job->up);
}

static int by_kernel_thread(struct memtap_uprobe *up, bool add)
{
	struct uprobe_job job;

	job.up = up;
	job.add = add;
	job.err = 0;
	INIT_WORK_ONSTACK(&job.work, do_job);
	schedule_work(&job.work);
	flush_work(&job.work);
	destroy_work_on_stack(&job.work);
	return job.err;
}

void memtap_uprobe_unregister(struct memtap_uprobe *up)
{
	by_kernel_thread(up, false);
}

int memtap_uprobe_register(struct memtap_uprobe *up)
{
	if (up->ref_ctr && !memtap_uprobe_has_refctr())
		return -EOPNOTSUPP;
	if (!memtap_inode_uprobeable(up->inode))
		return -EOPNOTSUPP;
	up->uc.handler = up->entry ? on_entry : NULL;
	up->uc.ret_handler = up->ret ? on_return : NULL;
	up->uc.filter = up->filter ? on_filter : NULL;
	return by_kernel_thread(up, true);
}

#if defined(CONFIG_X86_64) && defined(KERNEL_DS)	/* before v5.10 */
#include <linux/elf.h>
#include <linux/kallsyms.h>
#include <asm/segment.h>

#define CALL	0xe8
#define PUSH	0x50		/* to 0x57: a register */

typedef typeof(&arch_uretprobe_hijack_return_addr) hijack_fn;

/* Not exported since v5.7, which is repaired. */
extern typeof(kallsyms_lookup_name) kallsyms_lookup_name __weak;
static typeof(&kallsyms_lookup_name) lookup = kallsyms_lookup_name;

static bool knows_32;

struct hijack_job {
	struct work_struct work;
	hijack_fn fn;
};

/*
 * What it does for a function of a 32-bit program, with the stack in our memory.  In a
 * kernel thread, which was never in a 32-bit system call: that is what it asks about.
 */
static void try_hijack(struct work_struct *work)
{
	struct hijack_job *job = container_of(work, struct hijack_job, work);
	u32 stack[4] = { 0x55555555, 0x66666666, 0x77777777, 0x88888888 };
	const mm_segment_t was = get_fs();
	struct pt_regs regs;
	unsigned long old;

	memset(&regs, 0, sizeof(regs));
	regs.cs = __USER32_CS;
	regs.sp = (unsigned long)stack;
	set_fs(KERNEL_DS);
	old = job->fn(0x11111111, &regs);
	set_fs(was);
	knows_32 = old == 0x55555555 && READ_ONCE(stack[0]) == 0x11111111 &&
		   READ_ONCE(stack[1]) == 0x66666666;
}

void memtap_uprobe_init(void)
{
	struct hijack_job job;

	if (!READ_ONCE(lookup)) {
		knows_32 = true;
		return;
	}
	job.fn = (hijack_fn)lookup("arch_uretprobe_hijack_return_addr");
	if (!job.fn)
		return;
	INIT_WORK_ONSTACK(&job.work, try_hijack);
	schedule_work(&job.work);
	flush_work(&job.work);
	destroy_work_on_stack(&job.work);
}

bool memtap_uprobe_knows_32(void)
{
	return knows_32 && !MEMTAP_UPROBE_MISPLACED;
}

bool memtap_uprobe_harmless(struct file *file, loff_t offset, bool ret)
{
	struct elf32_hdr elf;
	loff_t at = 0;
	ssize_t got;
	u8 insn;

	if (knows_32)
		return true;
	if (kernel_read(file, &elf, sizeof(elf), &at) != sizeof(elf) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) || elf.e_machine != EM_386)
		return true;
	got = kernel_read(file, &insn, 1, &offset);
	/* past the end there is nothing, as who registers it is told */
	if (!got)
		return true;
	if (ret || got != 1)
		return false;
	return insn != CALL && !(memtap_uprobe_emulates_push() && (insn & 0xf8) == PUSH);
}
#else
void memtap_uprobe_init(void)
{
}

bool memtap_uprobe_knows_32(void)
{
	return !MEMTAP_UPROBE_MISPLACED;
}

bool memtap_uprobe_harmless(struct file *file, loff_t offset, bool ret)
{
	return true;
}
#endif

#if MEMTAP_UPROBE_MISPLACED
/* Jumps, calls and nop are done without it, and push where the kernel does that. */
bool memtap_uprobe_stepped(struct file *file, loff_t offset, bool ret)
{
	u8 insn[2] = { 0, 0 };

	if (ret || kernel_read(file, insn, sizeof(insn), &offset) != sizeof(insn))
		return true;
	switch (insn[0]) {
	case 0xe8:
	case 0xe9:
	case 0xeb:
	case 0x90:
	case 0x70 ... 0x7f:
		return false;
	case 0x0f:
		return (insn[1] & 0xf0) != 0x80;
	case 0x50 ... 0x57:
		return !memtap_uprobe_emulates_push();
	default:
		return true;
	}
}

bool memtap_uprobe_fits(const struct memtap_uprobe *up, struct mm_struct *mm)
{
	const unsigned long top = mm->task_size, page = top - PAGE_SIZE;
	struct vm_area_struct *vma;

	if (!up->stepped || top > U32_MAX)
		return true;
	vma = find_vma(mm, page);
	if (!vma || vma->vm_start >= top)
		return true;
	/* the page itself, which others needed before */
	return mm->uprobes_state.xol_area && vma->vm_start == page &&
	       !(vma->vm_flags & VM_GROWSDOWN);
}
#endif

#ifdef HAVE_UPROBE_DUP_XOL
/* Since v3.16 the kernel refuses by itself what it cannot probe. */
bool memtap_inode_uprobeable(const struct inode *inode)
{
	return true;
}
#else
/*
 * Before v3.16 the instruction is read by readpage(), and where there is none,
 * as on tmpfs, the failure goes unseen if the file is mapped later.  No header
 * shows that change; dup_xol_work came little before, and RHEL 7 has neither.
 */
bool memtap_inode_uprobeable(const struct inode *inode)
{
	return inode->i_mapping->a_ops->readpage;
}
#endif

/*
 * The pending call whose return address was in @slot.
 *
 * On x86 that is the top of the stack at the call.  On arm64 it was a register
 * then, and the function stored it below: the innermost call above @slot.
 */
static bool holds(const struct return_instance *ri, u64 slot)
{
	return IS_ENABLED(CONFIG_ARM64) ? ri->stack > slot : ri->stack == slot;
}

/*
 * The trampoline's address is not to be had, but it stands in the slot of every
 * call that is still pending.
 */
static bool in_slot(const struct return_instance *ri, u64 ip)
{
	u32 word = memtap_task_compat(current) ? 4 : sizeof(long);
	unsigned long found = 0;

	return memtap_user_bytes(&found, ri->stack, word) && found == ip;
}

/*
 * At the return of a tail call the list leads through freed memory for a while
 * (before v6.12), in which an event may occur: it is read so that nothing worse
 * than a wrong frame can come of it.  The kernel keeps at most 64 instances.
 */
#define MAX_PENDING	64

u64 memtap_uretprobe_fix(u64 slot, u64 ip)
{
	const struct return_instance *next;
	struct return_instance ri;
	bool trampoline = false;
	u32 n;

	/* the trampoline is the first thing in a page of its own */
	if (!memtap_uretprobes_pending() || !PAGE_ALIGNED(ip))
		return ip;
	next = current->utask->return_instances;
	for (n = 0; next && n < MAX_PENDING; n++) {
		if (copy_from_kernel_nofault(&ri, next, sizeof(ri)))
			break;
		if (holds(&ri, slot))
			return ri.orig_ret_vaddr;
		trampoline = trampoline || in_slot(&ri, ip);
		next = ri.next;
	}
	return trampoline ? 0 : ip;
}

void memtap_uretprobe_restore(void)
{
	u32 n, word = memtap_task_compat(current) ? 4 : sizeof(long);
	const struct return_instance *next;
	struct return_instance ri;
	u64 found, true_ip;

	/* arm64 has it in a register, or in a place that only the function knows */
	if (!memtap_uretprobes_pending() || !IS_ENABLED(CONFIG_X86))
		return;
	next = current->utask->return_instances;
	for (n = 0; next && n < MAX_PENDING; n++, next = ri.next) {
		if (copy_from_kernel_nofault(&ri, next, sizeof(ri)))
			break;
		found = 0;
		true_ip = ri.orig_ret_vaddr;
		if (memtap_user_copy(&found, ri.stack, word) || !found ||
		    !PAGE_ALIGNED((unsigned long)found))
			continue;
		if (memtap_user_write(ri.stack, &true_ip, word))
			break;
	}
}
