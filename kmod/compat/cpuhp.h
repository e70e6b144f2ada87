/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_CPUHP_H
#define _COMPAT_CPUHP_H

/*
 * Be told of CPUs that come (@online, first for all that are there) and go
 * (@offline, while they still work).  The callbacks may sleep.  One user.
 */
int memtap_cpuhp_setup(int (*online)(unsigned int cpu),
		       int (*offline)(unsigned int cpu));

/* No callback runs afterwards; @offline is not called for it. */
void memtap_cpuhp_remove(void);

#endif
