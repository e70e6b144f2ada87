// SPDX-License-Identifier: GPL-2.0-only
/* v6.10: __alloc_pages_bulk() has another name */
#include <linux/gfp.h>
#include "probe.h"

PROBE_EXISTS(alloc_pages_bulk_noprof);
