// SPDX-License-Identifier: GPL-2.0-only
/* v7.0, and before v3.19: a member of its own (or of a union without a name); else of d_u */
#include <linux/dcache.h>
#include "probe.h"

PROBE_MEMBER(struct dentry, d_alias);
