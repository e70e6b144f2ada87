// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A USDT probe with a semaphore; apart, because <sys/sdt.h> gives one to all
 * probes of a file or to none.
 */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include "workload.h"

/* Raised while somebody listens; tracers find it through the probe's note. */
__attribute__((section(".probes"))) volatile unsigned short memtap_wl_guarded_semaphore;

bool wl_usdt_guarded(int x);

/* As programs do whose probes' arguments are dear: only when it is wanted. */
WL_FN bool wl_usdt_guarded(int x)
{
	wl_frame();
	if (!memtap_wl_guarded_semaphore)
		return false;
	DTRACE_PROBE1(memtap_wl, guarded, x);
	return true;
}
