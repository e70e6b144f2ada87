/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _TOP_TOP_H
#define _TOP_TOP_H

#include "base/cmd.h"

int cmd_top(const struct cmd *cmd, struct opts *o);

#endif
