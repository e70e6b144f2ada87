// SPDX-License-Identifier: GPL-2.0-only
/* v5.8: copy_from_user_nofault(), was probe_user_read() */
#include <linux/uaccess.h>
#include "probe.h"

PROBE_EXISTS(copy_from_user_nofault);
