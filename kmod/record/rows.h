/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MEMTAP_ROWS_H
#define _MEMTAP_ROWS_H

#include "port/uapi.h"

struct memtap_session;
struct memtap_shared;

/* Makes the tables of tasks and files, if they are not there yet. */
int memtap_maps_make(struct memtap_session *s);

/* May this table come now?  Before its arrays are copied. */
int memtap_rows_check(const struct memtap_session *s, const struct memtap_table *a);

/*
 * Takes over @sh, whose arrays are filled in.  The caller holds s->lock, and goes on
 * with _publish(): it is used from then on; unless its caller could not be @told.
 */
int memtap_rows_table(struct memtap_session *s, struct memtap_table *a,
		      struct memtap_shared *sh);
void memtap_rows_publish(struct memtap_session *s, bool told);

/* The next file without a table; *path is the session's. */
int memtap_rows_wanted(struct memtap_session *s, struct memtap_wanted *a,
		       const char **path);
u32 memtap_rows_nr_wanted(const struct memtap_session *s);

#endif
