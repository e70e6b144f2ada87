// SPDX-License-Identifier: GPL-2.0-only
#include <linux/delay.h>
#include <linux/module.h>

#include "compat/takeaway.h"

#define TRY_MS		10000

bool memtap_take_away(bool (*try)(void *what), void *what, u32 tries, const char *name)
{
	u32 i;

	for (i = 0; i < tries; i++) {
		if (likely(try(what)))
			return true;
		msleep(TRY_MS / tries);
	}
	__module_get(THIS_MODULE);
	pr_err("the probe of %s cannot be taken away: memtap stays until the next boot\n",
	       name);
	return false;
}
