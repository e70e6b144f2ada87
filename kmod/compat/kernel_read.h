/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_KERNEL_READ_H
#define _COMPAT_KERNEL_READ_H

#include <linux/mm.h>
#include <linux/uaccess.h>

/**
 * memtap_kernel_bytes() - copy @len bytes of the kernel's memory at @from, in any context
 *
 * Never faults.  What is no address of the kernel's is refused here: before v5.8 it would
 * be read as the user's, or be warned of.  Return: 1; 0 if they cannot be read.
 */
static inline int memtap_kernel_bytes(void *to, u64 from, u32 len)
{
#ifdef CONFIG_X86_64
	if (from < PAGE_OFFSET || from > ~0UL - len)
		return 0;
#else
	if ((s64)from >= 0 || from > ~0UL - len)
		return 0;
#endif
	return !copy_from_kernel_nofault(to, (void *)(unsigned long)from, len);
}

#endif
