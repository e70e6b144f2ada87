/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_CLOCK_H
#define _COMPAT_CLOCK_H

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

#endif
