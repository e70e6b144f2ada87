/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_MAPPING_H
#define _COMPAT_MAPPING_H

#include <linux/mm.h>

/* Which argument of vm_stat_account() is the number of pages. */
#ifdef HAVE_VM_STAT_ACCOUNT_FILE		/* before v4.5 */
#define MEMTAP_STAT_PAGES	3	/* (mm, flags, file, pages) */
#else
#define MEMTAP_STAT_PAGES	2	/* (mm, flags, pages) */
#endif

#endif
