/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_FREE_PAGES_H
#define _COMPAT_FREE_PAGES_H

#include <linux/mm.h>
#include <linux/vmstat.h>

/* Free pages of the machine, but for what each CPU has not told yet.  Any context. */
static inline u64 memtap_free_pages(void)
{
#ifdef HAVE_GLOBAL_ZONE_PAGE_STATE		/* since v4.14 */
	return global_zone_page_state(NR_FREE_PAGES);
#else
	return global_page_state(NR_FREE_PAGES);
#endif
}

#endif
