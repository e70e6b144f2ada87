// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kprobes that are taken away for certain.  To do so the kernel may want memory (ftrace's
 * filters); where there is none it leaves the probe where it is.  Unregistering tells so
 * by the address alone, and by then has freed what a return probe needs; so the probe is
 * disabled first.
 *
 * That must not fail either: the kernel has counted the probe out by then, and once too
 * often when it is tried again; others' may be silent after that.  So it has what is kept
 * back for those who give memory back.  Should that be gone, too, it is tried a few times
 * more, because to stay is worse.
 */
#include <linux/kprobes.h>

#include "hooks/hooks.h"

#include "compat/removal.h"

#define TRIES	10

/* -EINVAL: it does not stand (any more). */
static bool try_disarm(void *what)
{
	unsigned int flags = memalloc_noreclaim_save();
	int err = disable_kprobe(what);

	memalloc_noreclaim_restore(flags);
	if (likely(!err) || err == -EINVAL)
		return true;
	pr_warn_once("removing a probe failed for want of memory (%d): %s\n", err,
		     "until the next boot single kprobes, also of other tools, may stay silent");
	return false;
}

bool memtap_kprobe_disarm(struct kprobe *kp)
{
	return memtap_unregister_retry(try_disarm, kp, TRIES, kp->symbol_name);
}

bool memtap_kprobe_unregister(struct kprobe *kp)
{
	if (!memtap_kprobe_disarm(kp))
		return false;
	unregister_kprobe(kp);
	return true;
}

bool memtap_kretprobe_unregister(struct kretprobe *rp)
{
	if (!memtap_kprobe_disarm(&rp->kp))
		return false;
	unregister_kretprobe(rp);
	return true;
}
