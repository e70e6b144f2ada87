// SPDX-License-Identifier: GPL-2.0-only
#include <linux/delay.h>
#include <linux/module.h>

#include "compat/takeaway.h"

#define TRY_MS		10000

/*
 * Whether a module that comes or goes is freed is not up to a reference: what it leaves behind
 * would lead into memory that is free.
 */
static bool may_stay(void)
{
	return THIS_MODULE->state == MODULE_STATE_LIVE;
}

bool memtap_take_away(bool (*try)(void *what), void *what, u32 tries, const char *name)
{
	u32 i;

	for (i = 0; i < tries || !may_stay(); i++) {
		if (likely(try(what)))
			return true;
		if (i + 1 == tries && !may_stay())
			pr_err("the probe of %s cannot be taken away yet: memtap waits for it\n",
			       name);
		msleep(TRY_MS / tries);
	}
	__module_get(THIS_MODULE);
	pr_err("the probe of %s cannot be taken away: memtap stays until the next boot\n",
	       name);
	return false;
}
