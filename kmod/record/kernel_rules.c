// SPDX-License-Identifier: GPL-2.0-only
/* Unwind kernel stacks by learned frame layouts. */
#include <linux/kernel.h>

#include "core/framerules.h"
#include "record/kernel_rules.h"

#if MEMTAP_KERNEL_RULES
/* 32 KiB; of all sessions. */
static struct framerules rules;
static u32 rules_code;			/* memtap_kernel_code */

/* Several may do so at once: nothing that is forgotten is missed. */
static noinline void forget(u32 code)
{
	framerules_clear(&rules);
	smp_store_release(&rules_code, code);
}

u32 memtap_walk_known(const unsigned long *frame, unsigned long *ips, u32 max)
{
	const unsigned long base = memtap_task_stack(frame);
	const u32 code = READ_ONCE(memtap_kernel_code);
	const struct framerules_step from = {
		.ip = frame[1], .bp = frame[0],
		.sp = (u32)((unsigned long)(frame + 2) - base),
	};
	int user;
	u32 nr;

	if (!base)
		return 0;
	if (unlikely(smp_load_acquire(&rules_code) != code)) {
		forget(code);
		return 0;
	}
	nr = framerules_walk(&rules, base, THREAD_SIZE, &from, ips, max, &user);
	return nr > 1 && (!user || memtap_entered_from_user()) ? nr : 0;
}

void memtap_learn_frames(const struct memtap_kernel_trail *t, u32 code)
{
	/* rooms that know nothing of each other */
	const struct framerules_step *steps = (const struct framerules_step *)t->steps;
	const enum framerules_end end = t->to_user ? FRAMERULES_USER :
					t->to_begin ? FRAMERULES_KERNEL : FRAMERULES_UNKNOWN;

	BUILD_BUG_ON(sizeof(*steps) != sizeof(t->steps[0]) ||
		     offsetof(struct framerules_step, ip) !=
		     offsetof(struct memtap_kernel_step, ip) ||
		     offsetof(struct framerules_step, bp) !=
		     offsetof(struct memtap_kernel_step, bp) ||
		     offsetof(struct framerules_step, sp) !=
		     offsetof(struct memtap_kernel_step, sp));
	framerules_learn(&rules, t->base, steps, t->nr, end);
	smp_mb();
	/* what was learned of code that is gone is forgotten */
	if (unlikely(READ_ONCE(memtap_kernel_code) != code))
		framerules_clear(&rules);
}
#else
u32 memtap_walk_known(const unsigned long *frame, unsigned long *ips, u32 max)
{
	return 0;
}

void memtap_learn_frames(const struct memtap_kernel_trail *t, u32 code)
{
}
#endif
