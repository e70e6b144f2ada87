/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_OOM_LOG_H
#define _RENDER_OOM_LOG_H

#include "machine/oom_log.h"
#include "render/oom.h"

/* Prints a kill that was read from a saved log: nothing that the log does not say. */
void render_oom_log(const struct oom_log_kill *k, const struct oom_opts *o);
void render_oom_log_json(const struct oom_log_kill *k, const struct oom_opts *o);

#endif
