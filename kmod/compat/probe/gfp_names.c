// SPDX-License-Identifier: GPL-2.0-only
/* v4.6: the kernel can print names of GFP flags, %pGg */
#include <linux/mm.h>
#include <linux/tracepoint.h>
#include <trace/events/mmflags.h>
#include "probe.h"

#ifndef __def_gfpflag_names
#error "no names"
#endif
