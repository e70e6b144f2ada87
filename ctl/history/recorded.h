/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _HISTORY_RECORDED_H
#define _HISTORY_RECORDED_H

#include "history/history.h"

/*
 * What the module sums up while it is loaded: waits by process, and what the flight recorder
 * counts.  A history has what came to it from one sample to the next, as a record before the
 * sample: sums of the module begin anew when it does, those of a history do not.
 */

/* Sums at one moment, as MEMTAP_RECORDED has them. */
struct recorded_look {
	__u64 ns;			/* CLOCK_MONOTONIC; 0: nobody looked yet */
	__u32 nr;			/* 0 too where the module is not loaded */
	struct memtap_recorded_row *rows;	/* room for MEMTAP_MAX_RECORDED */
};

/*
 * What came from @was to @is, as a record of at most @room bytes.  Returns its bytes; 0: nothing
 * came, or it is not known.  @scratch has room for MEMTAP_MAX_RECORDED rows.
 */
#define RECORDED_PROCESSES	8	/* of one event, those that waited longest */
#define RECORDED_CACHES		16	/* that grew or shrank most */
size_t recorded_put(const struct recorded_look *was, const struct recorded_look *is,
		    struct memtap_recorded_row *scratch, struct memtap_rec_recorded *to,
		    size_t room);

/* Rows of some time.  Of a row @since_ns is what the record says: from when on. */
struct recorded {
	struct memtap_recorded_row *at;
	size_t nr, room;
	size_t records;			/* that it is the sum of */
};

/* The rows of @rec are added to those of @to.  -EBADMSG, -ENOMEM. */
int recorded_get(const struct memtap_rec_recorded *rec, struct recorded *to);
/*
 * All that was recorded behind sample @first and before sample @last.  -ENOMEM; what cannot be
 * read is left out.  recorded_free() in any case.
 */
int recorded_between(const struct history *h, size_t first, size_t last, struct recorded *to);
void recorded_free(struct recorded *r);

/* Row @i is shown: it is not told by another one, in more detail. */
bool recorded_is_own(const struct recorded *r, size_t i);
/* Waits before sample @i were a tenth of its time, all processes together. */
bool recorded_stalled(const struct history *h, size_t i);

#endif
