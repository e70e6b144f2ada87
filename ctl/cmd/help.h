/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _HELP_H
#define _HELP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cmd.h"

/* `memtap`: what to type first. */
void help_short(void);
/* `memtap help`: all @nr commands, by subject. */
void help_all(const struct cmd *cmds, size_t nr);
/* `memtap CMD --help`: at most 60 lines, unless @all options are to be described. */
void help_command(const struct cmd *cmd, bool all);

#endif
