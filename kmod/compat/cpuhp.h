/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_CPUHP_H
#define _COMPAT_CPUHP_H

/*
 * Be told of CPUs that come, first of all that are there.  The callback must not
 * take the CPU hotplug lock.  One user.
 */
int memtap_cpuhp_setup(int (*online)(unsigned int cpu));

/* No callback runs afterwards. */
void memtap_cpuhp_remove(void);

#endif
