// SPDX-License-Identifier: GPL-2.0-only
/* v5.11: get_kretprobe(), was ri->rp */
#include <linux/kprobes.h>
#include "probe.h"

PROBE_EXISTS(get_kretprobe);
