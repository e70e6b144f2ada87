// SPDX-License-Identifier: GPL-2.0-only
/* v5.4: copy_struct_from_user() */
#include <linux/uaccess.h>
#include "probe.h"

PROBE_EXISTS(copy_struct_from_user);
