/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_REMOVAL_H
#define _COMPAT_REMOVAL_H

#include <linux/types.h>

/**
 * memtap_unregister_retry() - what the kernel may have no memory to take away
 * @try:	takes @what away; false: it could not
 * @tries:	so often, within ten seconds
 * @name:	where it stands, for people
 *
 * May sleep.  Return: false: it stays, and calls us.  So must we: the module cannot
 * be removed any more.  While it is being removed that is too late: then this does not
 * return before it is done, however often that takes.
 */
bool memtap_unregister_retry(bool (*try)(void *what), void *what, u32 tries, const char *name);

#endif
