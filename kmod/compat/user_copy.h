/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_USER_COPY_H
#define _COMPAT_USER_COPY_H

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "compat/file.h"

/*
 * Does a page of current's memory come, if it is waited for?  Those of FUSE, NFS
 * and devices may never come, nor do those that userfaultfd has; the others are
 * zeroed, or read from swap or a disk.
 */
static inline bool memtap_user_comes(u64 addr)
{
	struct vm_area_struct *vma;
	bool comes;

	/* who has it for writing may wait for such a page */
	if (!mmap_read_trylock(current->mm))
		return false;
	vma = find_vma(current->mm, addr);
	comes = vma && vma->vm_start <= addr && !userfaultfd_armed(vma) &&
		(vma->vm_file ? memtap_file_answers(vma->vm_file) : !vma->vm_ops);
	mmap_read_unlock(current->mm);
	return comes;
}

/**
 * memtap_user_copy() - in a probe: copy from current's memory, which has one
 * @to:		where to
 * @from:	address
 * @len:	bytes, less than a page
 *
 * May sleep, but not for what may never come: whoever takes a probe away waits
 * for all that are in it.  Return: 0, or not 0 if it cannot be read.
 */
static inline int memtap_user_copy(void *to, u64 from, u32 len)
{
	const void __user *at = (void __user *)(unsigned long)from;

	if (!copy_from_user_nofault(to, at, len))
		return 0;
	return !memtap_user_comes(from) || !memtap_user_comes(from + len - 1) ||
	       copy_from_user(to, at, len);
}

/* The same, to current's memory. */
static inline int memtap_user_write(u64 to, const void *from, u32 len)
{
	void __user *at = (void __user *)(unsigned long)to;
	long left;

	if (to > TASK_SIZE - len)
		return -EFAULT;
	pagefault_disable();
	left = __copy_to_user_inatomic(at, from, len);
	pagefault_enable();
	if (!left)
		return 0;
	return !memtap_user_comes(to) || !memtap_user_comes(to + len - 1) ||
	       copy_to_user(at, from, len);
}

#endif
