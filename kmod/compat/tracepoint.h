/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_TRACEPOINT_H
#define _COMPAT_TRACEPOINT_H

#include <linux/tracepoint.h>

/*
 * Tracepoints of the kernel proper, by name: few of them are exported.  Returns
 * 0, or -ENOENT if there is none.  After unregistering the caller waits with
 * tracepoint_synchronize_unregister().  False: the kernel had no memory for it, for
 * seconds (before v5.14 it needs some where others use the same tracepoint); then
 * @probe and @data have to stay, and the module does.
 */
int memtap_tracepoint_register(const char *name, void *probe, void *data);
bool memtap_tracepoint_unregister(const char *name, void *probe, void *data);

/*
 * May a probe of type void (void *data) stand behind any tracepoint?  It finds
 * its data, and leaves the other arguments alone; but not where the kernel
 * checks the type of what it calls.
 */
#if defined(CONFIG_CFI) || defined(CONFIG_CFI_CLANG)	/* v6.18, v5.13 */
#define MEMTAP_TP_ANY_OK	0
#else
#define MEMTAP_TP_ANY_OK	1
#endif

/*
 * Does not compile if @probe is not what this kernel's tracepoint @event calls.
 * Each definition of a probe ends with it.
 */
#define MEMTAP_TP_CHECK(event, probe)					\
typedef char probe##_is_no_probe_of_##event[				\
	__builtin_types_compatible_p(					\
		typeof(&check_trace_callback_type_##event),		\
		typeof(void (*)(typeof(&probe)))) ? 1 : -1]

#endif
