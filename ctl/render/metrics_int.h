/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_METRICS_INT_H
#define _RENDER_METRICS_INT_H

/*
 * What the files of metrics share.
 *
 *	metrics.c		sums of the machine, counters of the kernel
 *	metrics_text.c		the formats
 *	metrics_holders.c	the largest cgroups, programs and slab caches
 *	metrics_sessions.c	memtap's sessions, and the live blocks that they keep
 */
#include "render/metrics.h"

#define DIM(a)	(sizeof(a) / sizeof((a)[0]))

enum type { GAUGE, COUNTER };

struct metric {
	const char *name;		/* without "memtap_" and, of a counter, "_total" */
	const char *unit;		/* the name ends with it; NULL: none */
	enum type type;
	const char *help;
};

struct page {
	FILE *out;
	const struct metrics_opts *o;
	const struct metric *now;	/* whose samples are being written */
};

/* A family begins: its HELP, TYPE and UNIT. */
void metrics_head(struct page *p, const struct metric *m);

/* @text as a label's value, escaped; for free().  NULL: no memory. */
char *metrics_label(const char *text);

/* A sample.  @value is escaped, or needs not to be; @key NULL: the sample has no label. */
void metrics_sample(struct page *p, const char *key, const char *value, __u64 n);
void metrics_signed(struct page *p, const char *key, const char *value, __s64 n);
void metrics_us(struct page *p, const char *key, const char *value, __u64 us);
void metrics_seconds(struct page *p, double seconds);
/* A family that is one sample. */
void metrics_one(struct page *p, const struct metric *m, __u64 n);

/* False: no memory. */
bool metrics_holders(struct page *p, const struct machine *m);
bool metrics_sessions(struct page *p, const struct others *o);

/* Lists of live blocks are holders, too. */
bool metrics_live(struct page *p, const struct machine_list *l);

#endif
