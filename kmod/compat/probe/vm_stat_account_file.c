// SPDX-License-Identifier: GPL-2.0-only
/* before v4.5: vm_stat_account() takes a file, too */
#include <linux/mm.h>
#include "probe.h"

PROBE_TYPE(vm_stat_account, void(struct mm_struct *, unsigned long, struct file *, long));
