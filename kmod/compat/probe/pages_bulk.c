// SPDX-License-Identifier: GPL-2.0-only
/* v5.13: pages come in bulk, too (its name since v6.10 is that of pages_bulk_noprof.c) */
#include <linux/gfp.h>
#include "probe.h"

PROBE_EXISTS(__alloc_pages_bulk);
