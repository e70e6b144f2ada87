/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_OOM_H
#define _RENDER_OOM_H

#include <stdbool.h>
#include <stdio.h>

#include "triage/oom.h"

struct sym;

/* @sym: for the stacks; NULL: they stay addresses.  @rows: largest processes shown. */
struct oom_opts {
	FILE *out;
	struct sym *sym;
	__u32 rows;
	bool line;			/* JSON: all on one line */
};

/* A record that is clean (oom_clean()), for people, or as a JSON document. */
void render_oom(const struct memtap_oom_record *r, const struct oom_opts *o);
void render_oom_json(const struct memtap_oom_record *r, const struct oom_opts *o);

#endif
