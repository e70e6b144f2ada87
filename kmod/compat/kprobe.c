// SPDX-License-Identifier: GPL-2.0-only
#include <linux/rculist.h>

#include "compat/kprobe.h"

#ifdef HAVE_KPROBE_FAULT_HANDLER		/* before v5.14 */
/*
 * It was counted for all probes of this place, which are in one ring with the one that
 * stands for them.  One that is being taken away is no longer in the ring, but still leads
 * into it.
 */
int memtap_kprobe_faulted(struct kprobe *kp, struct pt_regs *regs, int trap)
{
	struct kprobe *first = list_entry_rcu(kp->list.next, struct kprobe, list), *at = first;

	kp->nmissed--;
	while (at != kp) {
		if (at->fault_handler == memtap_kprobe_faulted)
			at->nmissed--;
		at = list_entry_rcu(at->list.next, struct kprobe, list);
		if (at == first)
			break;
	}
	return 0;
}
#endif
