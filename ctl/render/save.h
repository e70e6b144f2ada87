/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_SAVE_H
#define _RENDER_SAVE_H

#include <stdio.h>

#include "base/ids.h"
#include "snap/snap.h"
#include "sym/sym.h"

/* A part of the time. */
struct save_part {
	__u64 start_ns, end_ns;
	void *rows;
	__u32 nr;
};

/* Parts that follow one another; where they become too many, two become one. */
#define SAVE_SPANS	256

/* Each two of *@nr that are neighbours become one; @row: bytes of a row.  0 or -ENOMEM. */
int save_halve(struct save_part at[SAVE_SPANS], size_t *nr, size_t row);

/* What was counted: rows are struct memtap_span_row. */
struct save_spans {
	struct save_part at[SAVE_SPANS];
	size_t nr;
};

/* What @now has beyond @before, two snapshots of a session; @before NULL: all.  0 or -ENOMEM. */
int save_spans_add(struct save_spans *all, const struct snap *now, const struct snap *before);
void save_spans_free(struct save_spans *all);
/* Rows of what @s has counters of, alone; those stay with @all.  0 or -ENOMEM. */
int save_spans_of(const struct save_spans *all, const struct snap *s, struct save_spans *to);
/* All but the last part are forgotten. */
void save_spans_last(struct save_spans *all);

/* What became of live blocks, struct memtap_lived_row; and what there was at the last look. */
struct save_liveds {
	struct save_part at[SAVE_SPANS];
	size_t nr;
	struct save_level *levels;	/* by number in @ids */
	struct ids ids;
	size_t room;
	__u64 now_ns;			/* of the last look */
};

/* One more look at a session that keeps live blocks.  0 or -ENOMEM. */
int save_liveds_add(struct save_liveds *all, const struct snap *now);
void save_liveds_free(struct save_liveds *all);

/* What a file has beyond what the device says. */
struct save_more {
	const char *const *notes;	/* "key=value" lines, NULL behind the last */
	const struct memtap_oom_record *ooms;	/* clean ones */
	size_t nr_ooms;
	const struct save_spans *spans;	/* or NULL */
	const struct save_liveds *liveds;	/* or NULL */
	bool again;			/* names were looked for again (sym_opts.again): what the
					 * file said of missing ones is dropped */
};

/*
 * Write a .memtap file: the bytes of @s as they came, the names of all addresses
 * in its stacks, the sentences of sym_notes() as "note=SENTENCE", what @more has, END.
 * Atomic: a file of that name is replaced when all is written, or not at all.
 * Only its owner may read it: it has addresses of the kernel.
 */
int save_snap(const struct snap *s, struct sym *sym, const struct save_more *more,
	      const char *path);
/* The same bytes; whether all are written is for the caller to find out.  0 or a negative errno. */
int save_stream(const struct snap *s, struct sym *sym, const struct save_more *more, FILE *f);

#endif
