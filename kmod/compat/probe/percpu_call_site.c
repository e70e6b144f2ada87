// SPDX-License-Identifier: GPL-2.0-only
/* v6.1: the tracepoint percpu_alloc_percpu has who called, and how it was asked for */
#include <linux/percpu.h>
#include <linux/gfp.h>
#include <trace/events/percpu.h>
#include "probe.h"

PROBE_TYPE(check_trace_callback_type_percpu_alloc_percpu,
	   void(void (*)(void *, unsigned long, bool, bool, size_t, size_t, void *, int,
			 void __percpu *, size_t, gfp_t)));
