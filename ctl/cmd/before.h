/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_BEFORE_H
#define _CMD_BEFORE_H

#include "base/opt.h"
#include "render/oom.h"

/*
 * A kill on @oo->out (standard output), and below it what rules recorded in the last minute before
 * it (history/act.h): who faulted or allocated most then.  JSON: the files.
 */
void before_show(const struct memtap_oom_record *r, const struct oom_opts *oo,
		 const struct opts *o);

#endif
