/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_KPROBE_H
#define _COMPAT_KPROBE_H

#include <linux/kprobes.h>

/*
 * Before v5.14 the kernel counts a page fault in a kprobe's handler as if the probe had
 * been missed, and so it is when the handler reads memory of the user that is not there:
 * it goes on, and records its event.  The kernel asks the probe's fault handler next, and
 * that takes it back.
 *
 * memtap_kprobe_register(), memtap_kretprobe_register() - as the kernel's, so that no
 * fault counts; and what a name resolved to is kept.  -ENOENT: there is no such function.
 * On failure @kp's address may be set.  May sleep.
 *
 * memtap_kprobe_place() - where a probe of this function's beginning goes: 0 and @at, or why
 * it cannot be.  May sleep.
 *
 * memtap_kprobe_missed(), memtap_kretprobe_missed() - how often it was not called since
 * nmissed was 0.  Neither the kernel nor we count atomically: of faults on several CPUs at
 * once one may be left, or taken back twice; less than nothing is nothing.
 */
#ifdef HAVE_KPROBE_FAULT_HANDLER		/* before v5.14 */
int memtap_kprobe_faulted(struct kprobe *kp, struct pt_regs *regs, int trap);

static inline void memtap_kprobe_forgive(struct kprobe *kp)
{
	kp->fault_handler = memtap_kprobe_faulted;
}
#else
static inline void memtap_kprobe_forgive(struct kprobe *kp)
{
}
#endif

int memtap_kprobe_register(struct kprobe *kp);
int memtap_kretprobe_register(struct kretprobe *rp);
int memtap_kprobe_place(const char *name, unsigned long *at);

/* When no more probe will be registered. */
void memtap_kprobe_names_free(void);

static inline u64 memtap_kprobe_missed(const struct kprobe *kp)
{
	const long missed = READ_ONCE(kp->nmissed);

	return missed > 0 ? missed : 0;
}

static inline u64 memtap_kretprobe_missed(const struct kretprobe *rp)
{
	return memtap_kprobe_missed(&rp->kp) + READ_ONCE(rp->nmissed);
}

#endif
