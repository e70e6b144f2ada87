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
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>

#include "hooks/hooks.h"

#define RETRY_MS	200
#define RETRIES		10

/* It stays, and calls us: so must we. */
static bool give_up(const struct kprobe *kp)
{
	__module_get(THIS_MODULE);
	pr_err("the probe on %pS cannot be taken away: memtap stays until the next boot\n",
	       kp->addr);
	return false;
}

/* -EINVAL: it does not stand (any more). */
static bool disarm(struct kprobe *kp)
{
	unsigned int flags;
	u32 i;
	int err;

	for (i = 0; i < RETRIES; i++) {
		flags = memalloc_noreclaim_save();
		err = disable_kprobe(kp);
		memalloc_noreclaim_restore(flags);
		if (likely(!err) || err == -EINVAL)
			return true;
		msleep(RETRY_MS);
	}
	return give_up(kp);
}

bool memtap_kprobe_unregister(struct kprobe *kp)
{
	if (!disarm(kp))
		return false;
	unregister_kprobe(kp);
	return true;
}

bool memtap_kretprobe_unregister(struct kretprobe *rp)
{
	if (!disarm(&rp->kp))
		return false;
	unregister_kretprobe(rp);
	return true;
}
