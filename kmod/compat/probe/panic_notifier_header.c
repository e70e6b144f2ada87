// SPDX-License-Identifier: GPL-2.0-only
/* v5.14: panic_notifier_list is in linux/panic_notifier.h */
#include <linux/panic_notifier.h>
#include "probe.h"

PROBE_EXISTS(panic_notifier_list);
