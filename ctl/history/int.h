/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _HISTORY_INT_H
#define _HISTORY_INT_H

#include "core/wire.h"
#include "history/history.h"
#include "machine/rows.h"

/* code.c: a sample's data, see struct memtap_rec_sample. */

/* Bytes of a sample at most, and of a history's file where the machine is large. */
#define SAMPLE_MOST	(1U << 20)

/*
 * @now, as what changed since @before (NULL: all of it), into @to.  How many bytes; 0: there is no
 * room for it.
 */
size_t code_put(const struct machine *before, const struct machine *now, __u8 *to, size_t room);

/* Text of a FIELDS record of this version; how many bytes. */
size_t code_fields(char *to, size_t room);

/* Which of our numbers those of a file are. */
struct code_map {
	size_t nr_tables;
	struct {
		int table;		/* enum rows_table; -1: not known here */
		size_t nr;
		short to[ROWS_NUMBERS];	/* -1: not known here */
	} at[32];
};

/* Of the text of a FIELDS record.  -EBADMSG */
int code_map_make(struct code_map *map, const char *text, size_t len);

/*
 * The machine that @data makes of @before (NULL: none), into @now, which is empty: what it
 * takes is freed by machine_free() in any case.  What of @before ended goes to @ended, if that is
 * not NULL: pointers to its names.  -EBADMSG, -ENOMEM.
 */
int code_get(const struct code_map *map, const struct machine *before, const __u8 *data,
	     size_t len, struct machine *now, struct machine_list *ended);

/*
 * sample.c: marks processes of @m that are not kept (left_out), if there are too many; @scratch has
 * room for a number of each of @room of them.  And then takes them away.
 */
void sample_select(struct machine *m, const struct machine *before, __u64 *scratch, size_t room);
void sample_drop(struct machine *m);

/* A segment's name, "history-00000042.memtap"; its number, or 0: it is none. */
#define SEGMENT_NAME	40
void segment_name(__u64 number, char name[SEGMENT_NAME]);
__u64 segment_number(const char *name);

#endif
