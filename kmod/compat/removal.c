// SPDX-License-Identifier: GPL-2.0-only
/* Retry the removal of hooks for which the kernel lacks memory. */
#include <linux/delay.h>
#include <linux/module.h>

#include "compat/removal.h"

#define TRY_MS		10000

/*
 * Keep the module from now on.  One that comes or goes is freed whatever its references are,
 * and then what stays would lead into memory that is free.
 */
static bool keep_module(void)
{
	return THIS_MODULE->state == MODULE_STATE_LIVE && try_module_get(THIS_MODULE);
}

bool memtap_unregister_retry(bool (*try)(void *what), void *what, u32 tries, const char *name)
{
	u32 i;

	for (i = 1; !try(what); i++) {
		msleep(TRY_MS / tries);
		if (i < tries)
			continue;
		if (keep_module()) {
			pr_err("the probe of %s cannot be taken away: memtap %s\n",
			       name, "stays until the next boot");
			return false;
		}
		if (i == tries)
			pr_err("the probe of %s cannot be taken away yet: memtap %s\n",
			       name, "waits for it");
	}
	return true;
}
