// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kprobes that are taken away for certain.  To do so the kernel may want memory (ftrace's
 * filters); where there is none it leaves the probe as it is, and tells by its address
 * alone, which it then clears.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>

#include "hooks.h"

#define RETRY_MS	20
#define RETRIES		500

/* It stays, and calls us: so must we. */
static bool give_up(const struct kprobe *kp)
{
	__module_get(THIS_MODULE);
	pr_err("the probe on %pS cannot be taken away: memtap stays until the next boot\n",
	       kp->addr);
	return false;
}

bool memtap_kprobe_unregister(struct kprobe *kp)
{
	kprobe_opcode_t *addr = kp->addr;
	u32 i;

	for (i = 0; i < RETRIES; i++) {
		unregister_kprobe(kp);
		if (likely(kp->addr))
			return true;
		kp->addr = addr;
		msleep(RETRY_MS);
	}
	return give_up(kp);
}

bool memtap_kretprobe_unregister(struct kretprobe *rp)
{
	kprobe_opcode_t *addr = rp->kp.addr;
	u32 i;

	for (i = 0; i < RETRIES; i++) {
		unregister_kretprobe(rp);
		if (likely(rp->kp.addr))
			return true;
		rp->kp.addr = addr;
		msleep(RETRY_MS);
	}
	return give_up(&rp->kp);
}
