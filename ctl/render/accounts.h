/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _RENDER_ACCOUNTS_H
#define _RENDER_ACCOUNTS_H

#include <stdbool.h>
#include <stdio.h>

#include "snap/snap.h"

/* The accounts of some events: seen, counted, filtered, lost. */
struct account {
	__u64 seen, counted, filtered, own;
	bool no_self;		/* the command that made them has no --self */
	/* signed: in an interval, calls that had not returned before may have returned */
	__u64 lost[MEMTAP_LOST_SLOTS];
};

void account_add(struct account *sum, const struct snap_event *e);
struct account account_of(const struct snap_event *e);
/* Of all events. */
struct account account_all(const struct snap *s);
__s64 account_lost(const struct account *a);
/* Is nothing lost, for any reason?  Of no event? */
bool account_whole(const struct account *a);
bool accounts_complete(const struct snap *s);
/* "90 events: 88 counted, 2 filtered, nothing lost", without a newline; @thing: "event" */
void account_put(const struct account *a, const char *thing, FILE *out);
/* "3 table-full, 2 missed" */
void account_put_lost(const struct account *a, FILE *out);
/* ": --self counts them", or "" where the command has no --self; of what is memtap's own */
const char *account_self(const struct account *a);
/* "2 of them memtap's own: --self counts them"; of what is filtered */
void account_put_own(const struct account *a, FILE *out);

/*
 * Where no account says it: "43 events of memtap's own are left out: --self counts them".
 * False, and nothing written: there are none.
 */
#define ACCOUNT_LEN	128
bool account_left_out(const struct snap *s, char *buf, size_t len);
void account_put_left_out(const struct snap *s, FILE *out);

#endif
