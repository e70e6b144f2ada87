// SPDX-License-Identifier: GPL-2.0-only
/* v4.3: userfaultfd */
#include <linux/mm.h>
#include <linux/userfaultfd_k.h>
#include "probe.h"

PROBE_EXISTS(userfaultfd_armed);
