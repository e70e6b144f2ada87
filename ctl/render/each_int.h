/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _EACH_INT_H
#define _EACH_INT_H

#include "render/each.h"

/* each_time.c */
void each_put_time_header(const struct each_opts *o, FILE *out);
void each_put_time(const struct each_opts *o, __u64 ns, FILE *out);

/* snoop.c: EACH_MMAP, EACH_SHM */
void each_snoop_header(const struct each_opts *o, FILE *out);
void each_snoop_line(const struct each_opts *o, const struct each_event *e,
		     const struct memtap_one *one, FILE *out);

#endif
