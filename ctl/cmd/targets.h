/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _CMD_TARGETS_H
#define _CMD_TARGETS_H

#include <stdbool.h>

#include "base/opt.h"
#include "session/condition.h"
#include "session/listen.h"

/* Select OOM kills, stalls and sessions to report: -p, --comm, --cgroup and --filter. */
struct targets {
	const struct opts *o;
	struct condition kill, stall, full;
	bool no_kill, no_stall, no_full;	/* they have not what the filter asks for */
};

/* What -p, --comm and --cgroup say alone. */
bool targets_named(const struct opts *o, const struct memtap_oom_record *r);

/* 0, or an exit status. */
int targets_parse_kills(struct targets *w, const char *cmd, const struct opts *o);
/* The same of all notices; those that a filter is not about are left out, which is said. */
int targets_parse_notices(struct targets *w, const char *cmd, const struct opts *o);

bool match_kill(const struct targets *w, const struct memtap_oom_record *r);
/* Of a kill there is its record. */
bool match_notice(const struct targets *w, const struct notice *n);

#endif
