// SPDX-License-Identifier: GPL-2.0-only
/* v4.16, RHEL 8 (4.18): struct arch_uprobe has a form for an emulated push */
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/uprobes.h>
#include "probe.h"

PROBE_MEMBER(struct arch_uprobe, push);
