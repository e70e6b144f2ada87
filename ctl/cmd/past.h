/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_PAST_H
#define _CMD_PAST_H

#include "base/cmd.h"
#include "history/past.h"
#include "render/triage.h"

/* The commands with --at or --between: see past_asked(). */
int past_report(const struct cmd *cmd, const struct opts *o);
int past_oom(const struct cmd *cmd, const struct opts *o);
int past_triage(const struct cmd *cmd, const struct opts *o);

/*
 * The triage of what lies between two samples of the same boot, to @o->out; @o gets the time.
 * -errno.
 */
int past_show(const struct past *p, size_t first, size_t last, struct triage_opts *o);

#endif
