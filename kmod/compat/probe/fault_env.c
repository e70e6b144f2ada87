// SPDX-License-Identifier: GPL-2.0-only
/* v4.8, until v4.9: struct fault_env, which most functions of a fault take */
#include <linux/mm.h>
#include "probe.h"

PROBE_MEMBER(struct fault_env, address);
