// SPDX-License-Identifier: GPL-2.0-only
/* v6.16: get_mm_counter_sum() adds what CPUs keep back */
#include <linux/mm.h>
#include "probe.h"

PROBE_EXISTS(get_mm_counter_sum);
