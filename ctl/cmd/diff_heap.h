/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_DIFF_HEAP_H
#define _CMD_DIFF_HEAP_H

#include <stdbool.h>

#include "base/cmd.h"

/* Does it begin as JSON does, and not as a recording? */
bool diff_is_heap(const char *path);
/* The two files, one of which does.  An exit status. */
int diff_heaps(const struct cmd *cmd, const struct opts *o);

#endif
