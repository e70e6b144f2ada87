// SPDX-License-Identifier: GPL-2.0-only
/* Register kprobes and kretprobes with the same errors on all kernels. */
#include <linux/rculist.h>

#include "compat/kprobe.h"

/*
 * From v4.12 to v5.10 register_kretprobe() says -EINVAL of a function that there is not, as
 * of one whose beginning it does not know.  register_kprobe() tells them apart.
 */
int memtap_kprobe_why(const char *name, int err)
{
	struct kprobe kp = { .symbol_name = name };
	int why = register_kprobe(&kp);

	if (!why)
		unregister_kprobe(&kp);
	return why == -ENOENT ? why : err;
}

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
