/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_PAST_H
#define _CMD_PAST_H

#include "base/cmd.h"

/* The commands with --at or --between: see past_asked(). */
int past_report(const struct cmd *cmd, const struct opts *o);
int past_oom(const struct cmd *cmd, const struct opts *o);
int past_triage(const struct cmd *cmd, const struct opts *o);

#endif
