// SPDX-License-Identifier: GPL-2.0-only
/* v5.16: folio_nr_pages() */
#include <linux/mm.h>
#include "probe.h"

PROBE_EXISTS(folio_nr_pages);
