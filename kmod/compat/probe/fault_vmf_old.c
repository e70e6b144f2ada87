// SPDX-License-Identifier: GPL-2.0-only
/* RHEL 7: functions of a fault take struct vm_fault, whose address has its old name */
#include <linux/mm.h>
#include "probe.h"

PROBE_MEMBER_TYPE(struct vm_fault, virtual_address, void __user *);
PROBE_MEMBER_TYPE(struct vm_fault, vma, struct vm_area_struct *);
