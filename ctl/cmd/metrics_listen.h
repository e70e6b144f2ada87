/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_METRICS_LISTEN_H
#define _CMD_METRICS_LISTEN_H

#include "base/opt.h"

/* Answer HTTP requests at @o->listen until a signal ends it: an exit status. */
int metrics_listen(const char *cmd, const struct opts *o);

#endif
