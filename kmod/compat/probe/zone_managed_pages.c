// SPDX-License-Identifier: GPL-2.0-only
/* v5.0: zone_managed_pages() */
#include <linux/mm.h>
#include <linux/mmzone.h>
#include "probe.h"

PROBE_EXISTS(zone_managed_pages);
