/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Old kernels made to look new: included before everything else in each of our
 * files, which are written for the newest kernel.  Names are the kernel's own;
 * where its behaviour cannot be had, an adapter with our own name stands in one
 * of the other files here.  See README.
 */
#ifndef _COMPAT_H
#define _COMPAT_H

#define pr_fmt(fmt) "memtap: " fmt

#include "have.h"

#include <linux/compiler.h>
#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>	/* 4.4: kallsyms.h needs it, and does not say so */
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#if !defined(CONFIG_KPROBES) || !defined(CONFIG_UPROBES) || \
	!defined(CONFIG_PERF_EVENTS) || !defined(CONFIG_TRACEPOINTS)
#error "memtap needs CONFIG_KPROBES, CONFIG_UPROBES, CONFIG_PERF_EVENTS and CONFIG_TRACEPOINTS"
#endif

#ifndef READ_ONCE_NOCHECK			/* before v4.3 */
#define READ_ONCE_NOCHECK(x)	READ_ONCE(x)
#endif

#ifdef HAVE_MMGRAB_SCHED_MM			/* since v4.11 */
#include <linux/sched/mm.h>
#else
#ifndef HAVE_MMGRAB_SCHED			/* not RHEL 7 */
static inline void mmgrab(struct mm_struct *mm)
{
	atomic_inc(&mm->mm_count);
}
#endif
#ifndef HAVE_MMGET_SCHED			/* before v4.7, not RHEL 7 */
static inline bool mmget_not_zero(struct mm_struct *mm)
{
	return atomic_inc_not_zero(&mm->mm_users);
}
#endif
#endif

#ifndef HAVE_MEMALLOC_NORECLAIM			/* before v4.12 */
static inline unsigned int memalloc_noreclaim_save(void)
{
	unsigned int flags = current->flags & PF_MEMALLOC;

	current->flags |= PF_MEMALLOC;
	return flags;
}

static inline void memalloc_noreclaim_restore(unsigned int flags)
{
	current->flags = (current->flags & ~PF_MEMALLOC) | flags;
}
#endif

#ifndef HAVE_WITHIN_MODULE			/* before v3.17 */
#include <linux/module.h>
static inline bool within_module(unsigned long addr, const struct module *mod)
{
	return within_module_init(addr, mod) ||
	       within_module_core(addr, mod);
}
#endif

#ifndef HAVE_STRSCPY_VOID			/* before v4.17 */
#define strscpy(to, from, size)						\
({									\
	ssize_t strscpy_ret = (strscpy)(to, from, size);		\
									\
	strscpy_ret;							\
})
#endif

#ifndef HAVE_KERNEL_READ_POS			/* before v4.14 */
static inline ssize_t compat_kernel_read(struct file *file, void *buf,
					 size_t count, loff_t *pos)
{
	int got = kernel_read(file, *pos, buf, count);

	if (got > 0)
		*pos += got;
	return got;
}
#define kernel_read	compat_kernel_read
#endif

#ifndef HAVE_POLL_T				/* before v4.16 */
typedef unsigned int __poll_t;
#include <uapi/linux/eventpoll.h>
#ifndef EPOLLIN
#define EPOLLIN		POLLIN
#endif
#ifndef EPOLLPRI
#define EPOLLPRI	POLLPRI
#endif
#ifndef EPOLLERR
#define EPOLLERR	POLLERR
#endif
#ifndef EPOLLHUP
#define EPOLLHUP	POLLHUP
#endif
#ifndef EPOLLRDNORM
#define EPOLLRDNORM	POLLRDNORM
#endif
#endif

#ifndef HAVE_STACK_TRACE_SAVE			/* before v5.2 */
static inline unsigned int stack_trace_save(unsigned long *store,
					    unsigned int size,
					    unsigned int skipnr)
{
	struct stack_trace trace = {
		.entries = store,
		.max_entries = size,
		.skip = skipnr,
	};

	save_stack_trace(&trace);
	/* the end is marked, if there is room */
	if (trace.nr_entries && store[trace.nr_entries - 1] == ULONG_MAX)
		trace.nr_entries--;
	return trace.nr_entries;
}
#endif

#ifndef HAVE_COPY_STRUCT_FROM_USER		/* before v5.4 */
static inline int compat_zeroed_user(const char __user *from, size_t size)
{
	char c;

	while (size--) {
		if (get_user(c, from++))
			return -EFAULT;
		if (c)
			return -E2BIG;
	}
	return 0;
}

static inline int copy_struct_from_user(void *dst, size_t ksize,
					const void __user *src, size_t usize)
{
	size_t size = min(ksize, usize);
	int err;

	if (usize > ksize) {
		err = compat_zeroed_user((const char __user *)src + ksize,
					 usize - ksize);
		if (err)
			return err;
	}
	memset((char *)dst + size, 0, ksize - size);
	return copy_from_user(dst, src, size) ? -EFAULT : 0;
}
#endif

/* Do system calls of 32-bit programs have functions of their own?  Since v4.17 */
#if defined(CONFIG_ARCH_HAS_SYSCALL_WRAPPER) && defined(CONFIG_IA32_EMULATION)
#define MEMTAP_CALLS32_APART	1
#else
#define MEMTAP_CALLS32_APART	0
#endif

#if !defined(HAVE_COMPAT_PTR_IOCTL) && defined(CONFIG_COMPAT)	/* before v5.5 */
#include <linux/compat.h>
static inline long compat_ptr_ioctl(struct file *file, unsigned int cmd,
				    unsigned long arg)
{
	return file->f_op->unlocked_ioctl(file, cmd,
					  (unsigned long)compat_ptr(arg));
}
#endif

#ifndef HAVE_MMAP_READ_LOCK			/* before v5.8 */
static inline void mmap_read_lock(struct mm_struct *mm)
{
	down_read(&mm->mmap_sem);
}

static inline bool mmap_read_trylock(struct mm_struct *mm)
{
	return down_read_trylock(&mm->mmap_sem);
}

static inline void mmap_read_unlock(struct mm_struct *mm)
{
	up_read(&mm->mmap_sem);
}
#endif

#ifdef HAVE_USERFAULTFD_ARMED			/* since v4.3 */
#include <linux/userfaultfd_k.h>
#else
static inline bool userfaultfd_armed(struct vm_area_struct *vma)
{
	return false;
}
#endif

#ifndef HAVE_COPY_FROM_KERNEL_NOFAULT		/* before v5.8 */
#define copy_from_kernel_nofault(dst, src, size) \
	probe_kernel_read(dst, src, size)
#endif

#ifndef HAVE_COPY_FROM_USER_NOFAULT		/* before v5.8 */
/*
 * Not access_ok(): its arguments changed, and under set_fs(KERNEL_DS) it lets
 * kernel addresses through.
 */
static inline long copy_from_user_nofault(void *dst, const void __user *src,
					  size_t size)
{
	long left;

	if (size > TASK_SIZE || (unsigned long)src > TASK_SIZE - size)
		return -EFAULT;
	pagefault_disable();
	left = __copy_from_user_inatomic(dst, src, size);
	pagefault_enable();
	return left ? -EFAULT : 0;
}
#endif

#ifndef HAVE_GET_KRETPROBE			/* before v5.11 */
static inline struct kretprobe *get_kretprobe(struct kretprobe_instance *ri)
{
	return ri->rp;
}
#endif

/* What is a macro needs no probe. */
#ifndef u64_to_user_ptr				/* before v4.7 */
#define u64_to_user_ptr(x)	((void __user *)(unsigned long)(x))
#endif

/*
 * Interrupts are off: whoever waits with synchronize_rcu() or kfree_rcu() waits
 * for what goes on meanwhile, where RCU's flavours are one (since v4.20), or the
 * plain one cannot be preempted anyway.
 */
#if (defined(HAVE_SYNCHRONIZE_SCHED) && defined(CONFIG_PREEMPT_RCU)) || \
	defined(CONFIG_PROVE_RCU)
#define memtap_irqs_off_read()		rcu_read_lock()
#define memtap_irqs_off_read_end()	rcu_read_unlock()
#else
#define memtap_irqs_off_read()		do { } while (0)
#define memtap_irqs_off_read_end()	do { } while (0)
#endif

#ifndef in_hardirq				/* before v5.11 */
#define in_hardirq()		(hardirq_count())
#endif

#endif
