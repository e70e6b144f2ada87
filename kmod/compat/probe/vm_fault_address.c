// SPDX-License-Identifier: GPL-2.0-only
/* v4.10: a fault's address is a number in struct vm_fault, which all functions take */
#include <linux/mm.h>
#include "probe.h"

PROBE_MEMBER(struct vm_fault, address);
