/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _SNAP_INT_H
#define _SNAP_INT_H

/* Shared by the files of this directory only. */
#include "snap/snap.h"
#include "core/wire.h"

struct decoder {
	struct snap *s;
	char *err;
	size_t counter_records;
	size_t hist_records;
	__u64 nr;		/* of the record at hand, for messages */
	bool seen_header, seen_end, seen_tool, complete;
	struct wire_sum sum;
};

/* Put a sentence in @err, return @code. */
#define SNAP_ERR_LEN	256
int snap_bad(char *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Sort the tables, and check that ids are unique and references lead somewhere. */
int snap_index(struct snap *s, char *err);

/* live.c: what is allocated */
int snap_take_blocks(struct decoder *d, const struct memtap_rec *rec);
int snap_take_heap(struct decoder *d, const struct memtap_rec *rec);
int snap_take_space(struct decoder *d, const struct memtap_rec *rec);
int snap_take_cache(struct decoder *d, const struct memtap_rec *rec);
int snap_take_mismatch(struct decoder *d, const struct memtap_rec *rec);
int snap_take_reach(struct decoder *d, const struct memtap_rec *rec);
int snap_take_held(struct decoder *d, const struct memtap_rec *rec);
int snap_take_peaks(struct decoder *d, const struct memtap_rec *rec);
int snap_take_peak(struct decoder *d, const struct memtap_rec *rec);
int snap_index_live(struct snap *s, char *err);
/* What allocators did since @old: into @d, a copy of @new.  0 or -ENOMEM. */
int snap_diff_live(struct snap *d, const struct snap *new, const struct snap *old);

/* Fill in s->counters: one for each key, whatever the CPU. */
int snap_merge(struct snap *s, char *err);

#endif
