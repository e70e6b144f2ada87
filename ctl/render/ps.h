/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_PS_H
#define _RENDER_PS_H

#include <stdio.h>

#include "machine/owners.h"

struct ps_opts {
	FILE *out;
	enum report_by by;
	bool map;		/* rows are the mappings of a process */
	int sort;		/* enum ps_sum; -1: by address */
	size_t top;		/* rows; 0: all */
	__u64 real_ns;		/* time of day to be printed; 0: none */
	bool line;		/* JSON: a document is one line */
	bool root;		/* root asks */
};

void render_ps(const struct owners *w, const struct machine *m, const struct ps_opts *o);
void render_ps_json(const struct owners *w, const struct machine *m, const struct ps_opts *o);

#endif
