/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_RIGHTS_H
#define _MEMTAP_RIGHTS_H

#include "compat/task.h"
#include "port/uapi.h"

struct steps;

/*
 * What a call needs beyond what the table of ioctls says, because of its arguments.  A session
 * keeps the highest right that one of its calls needed: whoever uses it later needs that, too.
 */
enum memtap_right memtap_config_right(const struct memtap_config *c);
enum memtap_right memtap_attach_right(const struct memtap_attach *a, const struct steps *steps);

#endif
