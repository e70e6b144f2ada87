// SPDX-License-Identifier: GPL-2.0-only
/* v5.0: user_access_begin(address, length), and unsafe_get_user() with a label */
#include <linux/uaccess.h>
#include "probe.h"

static inline int probe_read(u64 __user *p, u64 *v)
{
	u64 word;

	if (!user_access_begin(p, sizeof(*p)))
		return -1;
	unsafe_get_user(word, p, fault);
	user_access_end();
	*v = word;
	return 0;
fault:
	user_access_end();
	return -1;
}

PROBE_EXISTS(probe_read);
