/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CONTAINERS_H
#define _CONTAINERS_H

#include "base/opt.h"

/*
 * Add the cgroups of --container and --pod to @o->cgroups.  Exit status; the error was printed.
 * An ID may be shortened as long as it names one.
 */
int containers_resolve(struct opts *o, const char *cmd);

/* The same below a cgroup mount @mount, with the host's files in @root; for tests. */
int containers_resolve_at(struct opts *o, const char *cmd, const char *mount, const char *root);

#endif
