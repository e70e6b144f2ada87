/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_CLOCK_H
#define _COMPAT_CLOCK_H

#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/smp.h>

/*
 * Time where a probe may be in the middle of whatever keeps it, in ns: CLOCK_MONOTONIC, or
 * where that cannot be had there the scheduler's clock.  Preemption is off.
 */
static inline u64 memtap_clock_ns(void)
{
#ifdef HAVE_KTIME_MONO_FAST			/* since v3.17 */
	return ktime_get_mono_fast_ns();
#else
	return cpu_clock(smp_processor_id());
#endif
}

/*
 * What makes CLOCK_MONOTONIC of it, at this moment: 0 where it is that.  The scheduler's clock is
 * not slewed as the other is: they drift apart.  In process context.
 */
#ifdef HAVE_KTIME_MONO_FAST
#define MEMTAP_CLOCK_DRIFTS	false
#else
#define MEMTAP_CLOCK_DRIFTS	true
#endif

static inline s64 memtap_clock_offset(void)
{
	unsigned long flags;
	s64 offset = 0;

	if (MEMTAP_CLOCK_DRIFTS) {
		local_irq_save(flags);
		offset = ktime_get_ns() - memtap_clock_ns();
		local_irq_restore(flags);
	}
	return offset;
}

#endif
