// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure stalls in page faults on swapped pages.
 *
 * One function handles all such faults, for all swap devices.  The probe is on its return.  A
 * fault that must be retried counts twice.
 */
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/sched.h>

#include "hooks/hooks.h"
#include "hooks/waits_int.h"
#include "record/arch.h"
#include "record/record.h"

#include "compat/kernel_walk.h"
#include "compat/kprobe.h"

struct swap_hook {
	struct memtap_hook hook;
	struct kretprobe probe;
	bool stays;		/* it could not be taken away */
	u64 missed;		/* of earlier attachments */
	struct wait_book book;
};

static struct swap_hook swap;

static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(u64 *)ri->data = ktime_get_ns();
	return 0;
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const u64 from = *(const u64 *)ri->data, now = ktime_get_ns();
	struct memtap_hit hit = {
		.value = (s64)(now - from),
		.flags = MEMTAP_HIT_VALUE,
	};
	struct memtap_wait one;

	memtap_note_trampoline(regs);
	memtap_wait_add(&swap.book, swap.hook.event, from, now, &one);
	if (current->mm && !(current->flags & PF_KTHREAD))
		hit.flags |= MEMTAP_HIT_TASK;
	memtap_hit(&swap.hook.source, &hit);
	return 0;
}

static int attach(struct memtap_hook *h)
{
	strscpy(h->target, "do_swap_page", sizeof(h->target));
	if (swap.stays)
		return -EBUSY;
	memset(&swap.probe, 0, sizeof(swap.probe));
	swap.probe.kp.symbol_name = "do_swap_page";
	swap.probe.entry_handler = on_entry;
	swap.probe.handler = on_return;
	swap.probe.data_size = sizeof(u64);
	/* many threads may wait at once */
	swap.probe.maxactive = max_t(int, 512, 8 * num_possible_cpus());
	memtap_wait_book_begin(&swap.book);
	return memtap_kretprobe_register(&swap.probe);
}

static void detach(struct memtap_hook *h)
{
	swap.stays = !memtap_kretprobe_unregister(&swap.probe);
	swap.missed += memtap_kretprobe_missed(&swap.probe);
	swap.probe.nmissed = 0;
	swap.probe.kp.nmissed = 0;
}

static u64 missed(struct memtap_hook *h)
{
	return swap.missed + memtap_kretprobe_missed(&swap.probe);
}

static const struct memtap_hook_ops ops = {
	.attach = attach,
	.detach = detach,
	.missed = missed,
};

static struct swap_hook swap = {
	.hook = { .ops = &ops, .way = MEMTAP_WAY_KRETPROBE },
	.book = MEMTAP_WAIT_BOOK(swap.book),
};

void memtap_swap_book(struct memtap_hook **hook, struct wait_book **book)
{
	*hook = &swap.hook;
	*book = &swap.book;
}

const struct memtap_builtin memtap_swap_wait = {
	.name = "swap-wait",
	.group = "swap",
	.summary = "stalls in page faults on swapped pages",
	.unit = MEMTAP_UNIT_NS,
	.nr_hooks = 1,
	.hooks = { &swap.hook },
};
