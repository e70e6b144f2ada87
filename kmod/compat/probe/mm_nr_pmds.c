// SPDX-License-Identifier: GPL-2.0-only
/* v4.0: page tables of the second level are counted, too; v4.15: with all others */
#include <linux/mm.h>
#include "probe.h"

PROBE_TYPE(mm_nr_pmds, unsigned long (struct mm_struct *));
