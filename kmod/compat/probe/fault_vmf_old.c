/* RHEL 7: functions of a fault take struct vm_fault, whose address has its old name */
#include <linux/mm.h>
#include "probe.h"

PROBE_MEMBER(struct vm_fault, virtual_address);
PROBE_MEMBER(struct vm_fault, vma);
